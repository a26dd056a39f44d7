// Compiles kernels by wgpu-native's Direct3D 12 backend with FXC, Windows' compiler, and runs plans.
//
// usage: direct3d.exe LIST   (paths, a line each: a WGSL text, or a plan of record.py)
//
// Prints "ok MILLISECONDS PATH" or "rejected MILLISECONDS PATH" for each text that is met, and
// "same PATH", "other PATH" or "left PATH" for each plan: the buffers hold what they are to hold,
// or something else, or a kernel is rejected. The standard error has what the compiler says.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "wgpu.h"

enum { KERNELS = 4096, SLOTS = 16, BUFFERS = 64, DISPATCHES = 1024, PATH = 1024 };

typedef struct {
  char path[PATH];
  WGPUComputePipeline pipeline;  // 0 where it is rejected
} Kernel;

static WGPUDevice device;
static WGPUQueue queue;
static Kernel kernels[KERNELS];
static int known, errors;

static void fail(const char *what, const char *of) {
  fprintf(stderr, "direct3d: %s %s\n", what, of);
  exit(2);
}

static void got_device(WGPURequestDeviceStatus status, WGPUDevice found, WGPUStringView message, void *a, void *b) {
  device = found;
  if (status != WGPURequestDeviceStatus_Success) { fprintf(stderr, "%.*s\n", (int)message.length, message.data); }
}

static void got_error(WGPUDevice const *of, WGPUErrorType type, WGPUStringView message, void *a, void *b) {
  errors++;
  fprintf(stderr, "%.*s\n", (int)message.length, message.data);
}

static void got_map(WGPUMapAsyncStatus status, WGPUStringView message, void *done, void *b) { *(int *)done = (int)status; }

static void open_device(void) {
  WGPUInstanceExtras extras = {.chain = {.sType = (WGPUSType)WGPUSType_InstanceExtras},
                               .backends = WGPUInstanceBackend_DX12,
                               .dx12ShaderCompiler = WGPUDx12Compiler_Fxc};
  WGPUInstanceDescriptor described = {.nextInChain = &extras.chain};
  WGPUInstance instance = wgpuCreateInstance(&described);
  WGPUAdapter adapters[16];
  size_t count = wgpuInstanceEnumerateAdapters(instance, 0, 0);
  if (count < 1 || count > 16) { fail("no Direct3D 12 adapter", ""); }
  wgpuInstanceEnumerateAdapters(instance, 0, adapters);
  WGPULimits limits = {0};
  wgpuAdapterGetLimits(adapters[0], &limits);
  WGPUDeviceDescriptor wanted = {.requiredLimits = &limits, .uncapturedErrorCallbackInfo = {.callback = got_error}};
  WGPURequestDeviceCallbackInfo then = {.mode = WGPUCallbackMode_AllowSpontaneous, .callback = got_device};
  wgpuAdapterRequestDevice(adapters[0], &wanted, then);
  if (!device) { fail("no device", ""); }
  queue = wgpuDeviceGetQueue(device);
}

static void *read_bytes(FILE *file, size_t size) {
  char *bytes = calloc(1, size + 1);
  if (fread(bytes, 1, size, file) != size) { fail("a file ends too soon", ""); }
  return bytes;
}

static char *read_text(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) { fail("cannot read", path); }
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  char *text = read_bytes(file, (size_t)size);
  fclose(file);
  return text;
}

static double milliseconds(void) {
  LARGE_INTEGER ticks, second;
  QueryPerformanceCounter(&ticks);
  QueryPerformanceFrequency(&second);
  return 1e3 * (double)ticks.QuadPart / (double)second.QuadPart;
}

// The pipeline of a text, which is compiled when it is first met, or 0.
static WGPUComputePipeline pipeline_of(const char *path) {
  for (int k = 0; k < known; k++) {
    if (!strcmp(kernels[k].path, path)) { return kernels[k].pipeline; }
  }
  if (known == KERNELS) { fail("too many kernels:", path); }
  Kernel *kernel = &kernels[known++];
  snprintf(kernel->path, PATH, "%s", path);
  char *text = read_text(path), listing[PATH + 8];
  snprintf(listing, sizeof listing, "%s.asm", path);
  SetEnvironmentVariableA("FXC_LISTING", listing);  // for listing.c
  WGPUShaderSourceWGSL source = {.chain = {.sType = WGPUSType_ShaderSourceWGSL}, .code = {text, strlen(text)}};
  WGPUShaderModuleDescriptor described = {.nextInChain = &source.chain};
  double began = milliseconds();
  errors = 0;
  // As wgdml/runtime/modules.py: all checks but counters of loops.
  WGPUShaderModule module = wgpuDeviceCreateShaderModuleTrusted(device, &described, 1 | 4 | 8 | 16);
  WGPUComputePipelineDescriptor wanted = {.compute = {.module = module, .entryPoint = {"main", 4}}};
  WGPUComputePipeline pipeline = errors ? 0 : wgpuDeviceCreateComputePipeline(device, &wanted);
  kernel->pipeline = errors ? 0 : pipeline;
  printf("%s %.0f %s\n", errors ? "rejected" : "ok", milliseconds() - began, path);
  fflush(stdout);
  wgpuShaderModuleRelease(module);
  free(text);
  return kernel->pipeline;
}

static WGPUBuffer new_buffer(size_t size, WGPUBufferUsage usage) {
  WGPUBufferDescriptor described = {.usage = usage, .size = (size + 15) / 16 * 16};
  return wgpuDeviceCreateBuffer(device, &described);
}

// Whether a buffer begins with these bytes.
static int holds(WGPUBuffer buffer, const void *wanted, size_t size) {
  size_t whole = (size + 3) / 4 * 4;
  WGPUBuffer copy = new_buffer(whole, WGPUBufferUsage_CopyDst | WGPUBufferUsage_MapRead);
  WGPUCommandEncoder encoder = wgpuDeviceCreateCommandEncoder(device, 0);
  wgpuCommandEncoderCopyBufferToBuffer(encoder, buffer, 0, copy, 0, whole);
  WGPUCommandBuffer commands = wgpuCommandEncoderFinish(encoder, 0);
  wgpuQueueSubmit(queue, 1, &commands);
  int done = 0;
  WGPUBufferMapCallbackInfo then = {.mode = WGPUCallbackMode_AllowSpontaneous, .callback = got_map, .userdata1 = &done};
  wgpuBufferMapAsync(copy, WGPUMapMode_Read, 0, whole, then);
  while (!done) { wgpuDevicePoll(device, 1, 0); }
  if (done != WGPUMapAsyncStatus_Success) { fail("cannot map a buffer", ""); }
  int same = !memcmp(wgpuBufferGetConstMappedRange(copy, 0, whole), wanted, size);
  wgpuBufferRelease(copy);
  return same;
}

// Reads a dispatch of a plan and encodes it. Returns its parameters' buffer, or 0 where it cannot.
static WGPUBuffer encode(WGPUComputePassEncoder pass, FILE *file, const WGPUBuffer *buffers) {
  char text[PATH];
  unsigned grid[3];
  int bound;
  size_t size;
  WGPUBindGroupEntry entries[SLOTS] = {0};
  if (fscanf(file, " %1023[^\n]", text) != 1) { fail("no kernel in a plan", ""); }
  if (fscanf(file, "%u %u %u %d %zu", &grid[0], &grid[1], &grid[2], &bound, &size) != 5 || bound >= SLOTS) { fail("no dispatch of", text); }
  for (int i = 0; i < bound; i++) {
    int of;
    size_t offset, room;
    if (fscanf(file, "%u %d %zu %zu", &entries[i].binding, &of, &offset, &room) != 4) { fail("no binding of", text); }
    entries[i].buffer = buffers[of];
    entries[i].offset = offset;
    entries[i].size = room;
  }
  if (fgetc(file) != '\n') { fail("no parameters of", text); }
  void *bytes = read_bytes(file, size);
  WGPUBuffer parameters = new_buffer(size, WGPUBufferUsage_Uniform | WGPUBufferUsage_CopyDst);
  wgpuQueueWriteBuffer(queue, parameters, 0, bytes, size);
  free(bytes);
  WGPUComputePipeline pipeline = pipeline_of(text);
  if (!pipeline) { return 0; }
  entries[bound] = (WGPUBindGroupEntry){.binding = 0, .buffer = parameters, .size = size};
  WGPUBindGroupDescriptor group = {
      .layout = wgpuComputePipelineGetBindGroupLayout(pipeline, 0), .entryCount = (size_t)bound + 1, .entries = entries};
  wgpuComputePassEncoderSetPipeline(pass, pipeline);
  wgpuComputePassEncoderSetBindGroup(pass, 0, wgpuDeviceCreateBindGroup(device, &group), 0, 0);
  wgpuComputePassEncoderDispatchWorkgroups(pass, grid[0], grid[1], grid[2]);
  return parameters;
}

static const char *run(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) { fail("cannot read", path); }
  WGPUBuffer buffers[BUFFERS], parameters[DISPATCHES];
  void *wanted[BUFFERS];
  size_t compared[BUFFERS];
  int count, dispatches, left = 0, same = 1;
  if (fscanf(file, "buffers %d\n", &count) != 1 || count > BUFFERS) { fail("no buffers in", path); }
  for (int b = 0; b < count; b++) {
    size_t size, given;
    if (fscanf(file, "%zu %zu %zu", &size, &given, &compared[b]) != 3 || fgetc(file) != '\n') { fail("no buffer in", path); }
    buffers[b] = new_buffer(size, WGPUBufferUsage_Storage | WGPUBufferUsage_CopyDst | WGPUBufferUsage_CopySrc);
    void *bytes = read_bytes(file, given);
    if (given) { wgpuQueueWriteBuffer(queue, buffers[b], 0, bytes, given / 4 * 4); }
    free(bytes);
    wanted[b] = read_bytes(file, compared[b]);
  }
  if (fscanf(file, "dispatches %d", &dispatches) != 1 || dispatches > DISPATCHES) { fail("no dispatches in", path); }
  WGPUCommandEncoder encoder = wgpuDeviceCreateCommandEncoder(device, 0);
  WGPUComputePassEncoder pass = wgpuCommandEncoderBeginComputePass(encoder, 0);
  for (int d = 0; d < dispatches; d++) {
    parameters[d] = encode(pass, file, buffers);
    left += !parameters[d];
  }
  fclose(file);
  errors = 0;
  wgpuComputePassEncoderEnd(pass);
  WGPUCommandBuffer commands = wgpuCommandEncoderFinish(encoder, 0);
  if (!left) {
    wgpuQueueSubmit(queue, 1, &commands);
    for (int b = 0; b < count; b++) { same &= !compared[b] || holds(buffers[b], wanted[b], compared[b]); }
  }
  for (int b = 0; b < count; b++) {
    wgpuBufferRelease(buffers[b]);
    free(wanted[b]);
  }
  for (int d = 0; d < dispatches; d++) {
    if (parameters[d]) { wgpuBufferRelease(parameters[d]); }
  }
  return left ? "left" : same && !errors ? "same" : "other";
}

int main(int count, char **arguments) {
  FILE *list = count == 2 ? fopen(arguments[1], "r") : 0;
  if (!list) { fail("cannot read the list: usage: direct3d.exe LIST", ""); }
  open_device();
  char path[PATH];
  while (fgets(path, sizeof path, list)) {
    path[strcspn(path, "\r\n")] = 0;
    const char *end = strrchr(path, '.');
    if (end && !strcmp(end, ".plan")) {
      const char *found = run(path);
      printf("%s %s\n", found, path);
      fflush(stdout);
    } else {
      pipeline_of(path);
    }
  }
  return 0;
}
