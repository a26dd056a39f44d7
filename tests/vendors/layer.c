// A Vulkan layer by which a driver compiles for a GPU that is not there, and runs nothing.
//
// Mesa's drivers open a GPU that only has a name. It has no memory, no queue that ends and no
// semaphores. The layer makes those up: memory is the process's own, work is done when it is
// submitted, and no command reaches the driver. Pipelines do. For each the layer appends a line to
// the file that WGDML_STATISTICS names: what the driver's compiler says of each of its executables,
// as a JSON list of objects.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

static PFN_vkGetInstanceProcAddr next_instance;
static PFN_vkGetDeviceProcAddr next_device;
static VkInstance instance;
static VkDevice device;

#define NEXT(name) ((PFN_##name)next_device(device, #name))

// What the loader passes to a layer: how to call what is below.
static void *link_of(const void *chain, VkStructureType type) {
  VkLayerInstanceCreateInfo *at = (VkLayerInstanceCreateInfo *)chain;
  while (at && !(at->sType == type && at->function == VK_LAYER_LINK_INFO)) { at = (VkLayerInstanceCreateInfo *)at->pNext; }
  return at;
}

static VkResult own_CreateInstance(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *own, VkInstance *made) {
  VkLayerInstanceCreateInfo *link = link_of(info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
  next_instance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  VkResult result = ((PFN_vkCreateInstance)next_instance(0, "vkCreateInstance"))(info, own, made);
  instance = *made;
  return result;
}

// Asks for statistics, too.
static VkResult own_CreateDevice(VkPhysicalDevice gpu, const VkDeviceCreateInfo *info, const VkAllocationCallbacks *own, VkDevice *made) {
  VkLayerDeviceCreateInfo *link = link_of(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
  PFN_vkGetInstanceProcAddr below = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  next_device = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR statistics = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR, (void *)info->pNext, VK_TRUE};
  VkDeviceCreateInfo asked = *info;
  const char **names = calloc(info->enabledExtensionCount + 1, sizeof *names);
  if (info->enabledExtensionCount) { memcpy(names, info->ppEnabledExtensionNames, info->enabledExtensionCount * sizeof *names); }
  names[asked.enabledExtensionCount++] = VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME;
  asked.ppEnabledExtensionNames = names;
  asked.pNext = &statistics;
  VkResult result = ((PFN_vkCreateDevice)below(instance, "vkCreateDevice"))(gpu, &asked, own, made);
  free(names);
  device = *made;
  return result;
}

// -- memory --

static void own_GetPhysicalDeviceMemoryProperties(VkPhysicalDevice gpu, VkPhysicalDeviceMemoryProperties *found) {
  memset(found, 0, sizeof *found);
  found->memoryHeapCount = 1;
  found->memoryHeaps[0] = (VkMemoryHeap){1ull << 34, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
  found->memoryTypeCount = 2;
  found->memoryTypes[0].propertyFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  found->memoryTypes[1].propertyFlags =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
}

static void own_GetPhysicalDeviceMemoryProperties2(VkPhysicalDevice gpu, VkPhysicalDeviceMemoryProperties2 *found) {
  own_GetPhysicalDeviceMemoryProperties(gpu, &found->memoryProperties);
}

static void own_GetBufferMemoryRequirements(VkDevice of, VkBuffer buffer, VkMemoryRequirements *found) {
  NEXT(vkGetBufferMemoryRequirements)(of, buffer, found);
  found->memoryTypeBits = 3;
}

static VkResult own_AllocateMemory(VkDevice of, const VkMemoryAllocateInfo *info, const VkAllocationCallbacks *own, VkDeviceMemory *made) {
  *made = (VkDeviceMemory)calloc(1, info->allocationSize);
  return *made ? VK_SUCCESS : VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

static void own_FreeMemory(VkDevice of, VkDeviceMemory memory, const VkAllocationCallbacks *own) { free((void *)memory); }

static VkResult own_MapMemory(VkDevice of, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size, VkMemoryMapFlags flags, void **at) {
  *at = (char *)memory + offset;
  return VK_SUCCESS;
}

// -- semaphores, and what waits for them --

static VkResult own_CreateSemaphore(VkDevice of, const VkSemaphoreCreateInfo *info, const VkAllocationCallbacks *own, VkSemaphore *made) {
  *made = (VkSemaphore)calloc(1, sizeof(uint64_t));
  return VK_SUCCESS;
}

static void own_DestroySemaphore(VkDevice of, VkSemaphore semaphore, const VkAllocationCallbacks *own) { free((void *)semaphore); }

static VkResult own_GetSemaphoreCounterValue(VkDevice of, VkSemaphore semaphore, uint64_t *value) {
  *value = *(uint64_t *)semaphore;
  return VK_SUCCESS;
}

static VkResult own_QueueSubmit(VkQueue queue, uint32_t count, const VkSubmitInfo *submits, VkFence fence) {
  for (const VkSubmitInfo *submit = submits; submit < submits + count; submit++) {
    const VkTimelineSemaphoreSubmitInfo *values = submit->pNext;
    while (values && values->sType != VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO) { values = values->pNext; }
    for (uint32_t i = 0; values && i < submit->signalSemaphoreCount; i++) {
      *(uint64_t *)submit->pSignalSemaphores[i] = values->pSignalSemaphoreValues[i];
    }
  }
  return VK_SUCCESS;
}

static VkResult own_CreateQueryPool(VkDevice of, const VkQueryPoolCreateInfo *info, const VkAllocationCallbacks *own, VkQueryPool *made) {
  *made = (VkQueryPool)malloc(1);
  return VK_SUCCESS;
}

static void own_DestroyQueryPool(VkDevice of, VkQueryPool pool, const VkAllocationCallbacks *own) { free((void *)pool); }

// -- pipelines --

static void write_statistics(FILE *to, VkPipeline pipeline, uint32_t executable) {
  VkPipelineExecutableInfoKHR which = {VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, 0, pipeline, executable};
  uint32_t count = 0;
  NEXT(vkGetPipelineExecutableStatisticsKHR)(device, &which, &count, 0);
  VkPipelineExecutableStatisticKHR *found = calloc(count, sizeof *found);
  for (uint32_t i = 0; i < count; i++) { found[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR; }
  NEXT(vkGetPipelineExecutableStatisticsKHR)(device, &which, &count, found);
  for (uint32_t i = 0; i < count; i++) {
    double value = found[i].format == VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR ? found[i].value.f64 : (double)found[i].value.u64;
    fprintf(to, ", \"%s\": %.17g", found[i].name, value);
  }
  free(found);
}

static VkResult own_CreateComputePipelines(
    VkDevice of, VkPipelineCache cache, uint32_t count, const VkComputePipelineCreateInfo *infos, const VkAllocationCallbacks *own,
    VkPipeline *made) {
  VkComputePipelineCreateInfo info = *infos;  // wgpu makes one at a time
  info.flags |= VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
  VkResult result = count == 1 ? NEXT(vkCreateComputePipelines)(of, 0, 1, &info, own, made) : VK_ERROR_UNKNOWN;
  const char *path = getenv("WGDML_STATISTICS");
  FILE *to = path ? fopen(path, "a") : 0;
  if (result != VK_SUCCESS || !to) { return result; }
  VkPipelineInfoKHR which = {VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR, 0, *made};
  uint32_t executables = 0;
  NEXT(vkGetPipelineExecutablePropertiesKHR)(device, &which, &executables, 0);
  VkPipelineExecutablePropertiesKHR *about = calloc(executables, sizeof *about);
  for (uint32_t i = 0; i < executables; i++) { about[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR; }
  NEXT(vkGetPipelineExecutablePropertiesKHR)(device, &which, &executables, about);
  for (uint32_t i = 0; i < executables; i++) {
    fprintf(to, "%s\"lanes\": %u", i ? "}, {" : "[{", about[i].subgroupSize);
    write_statistics(to, *made, i);
  }
  free(about);
  fputs(executables ? "}]\n" : "[]\n", to);
  fclose(to);
  return result;
}

// -- what of the driver is called --

static VkResult done(void) { return VK_SUCCESS; }

static PFN_vkVoidFunction own_GetDeviceProcAddr(VkDevice of, const char *name);

static PFN_vkVoidFunction own(const char *name) {
#define IS(own_name) \
  if (!strcmp(name, "vk" #own_name)) { return (PFN_vkVoidFunction)own_##own_name; }
  IS(CreateInstance)
  IS(CreateDevice)
  IS(GetDeviceProcAddr)
  IS(GetPhysicalDeviceMemoryProperties)
  IS(GetPhysicalDeviceMemoryProperties2)
  IS(GetBufferMemoryRequirements)
  IS(AllocateMemory)
  IS(FreeMemory)
  IS(MapMemory)
  IS(CreateSemaphore)
  IS(DestroySemaphore)
  IS(GetSemaphoreCounterValue)
  IS(QueueSubmit)
  IS(CreateQueryPool)
  IS(DestroyQueryPool)
  IS(CreateComputePipelines)
  static const char *const ignored[] = {
      "vkUnmapMemory",        "vkBindBufferMemory",   "vkFlushMappedMemoryRanges", "vkInvalidateMappedMemoryRanges",
      "vkBeginCommandBuffer", "vkEndCommandBuffer",   "vkResetCommandBuffer",      "vkResetCommandPool",
      "vkWaitSemaphores",     "vkWaitForFences",      "vkGetFenceStatus",          "vkQueueWaitIdle",
      "vkDeviceWaitIdle",     "vkUpdateDescriptorSets", "vkGetQueryPoolResults"};
  for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) {
    if (!strcmp(name, ignored[i])) { return (PFN_vkVoidFunction)done; }
  }
  return strncmp(name, "vkCmd", 5) ? 0 : (PFN_vkVoidFunction)done;
}

static PFN_vkVoidFunction own_GetDeviceProcAddr(VkDevice of, const char *name) {
  PFN_vkVoidFunction found = own(name);
  return found ? found : next_device(of, name);
}

static PFN_vkVoidFunction own_GetInstanceProcAddr(VkInstance of, const char *name) {
  PFN_vkVoidFunction found = own(name);
  return found ? found : next_instance(of, name);
}

VkResult vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *version) {
  version->loaderLayerInterfaceVersion = 2;
  version->pfnGetInstanceProcAddr = own_GetInstanceProcAddr;
  version->pfnGetDeviceProcAddr = own_GetDeviceProcAddr;
  version->pfnGetPhysicalDeviceProcAddr = 0;
  return VK_SUCCESS;
}
