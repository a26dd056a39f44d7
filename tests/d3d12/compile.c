// Compiles kernels by wgpu-native's Direct3D 12 backend, with the compiler FXC, as Windows has it.
//
// usage: compile.exe LIST   (paths of WGSL texts, a line each)
//
// Prints "ok MILLISECONDS PATH" or "rejected MILLISECONDS PATH" for each, and to the standard error
// what FXC says.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "wgpu.h"

static WGPUDevice device;
static int errors;

static void fail(const char *what) {
  fprintf(stderr, "compile: %s\n", what);
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

static void open_device(void) {
  WGPUInstanceExtras extras = {.chain = {.sType = (WGPUSType)WGPUSType_InstanceExtras},
                               .backends = WGPUInstanceBackend_DX12,
                               .dx12ShaderCompiler = WGPUDx12Compiler_Fxc};
  WGPUInstanceDescriptor described = {.nextInChain = &extras.chain};
  WGPUInstance instance = wgpuCreateInstance(&described);
  WGPUAdapter adapters[16];
  size_t count = wgpuInstanceEnumerateAdapters(instance, 0, 0);
  if (count < 1 || count > 16) { fail("no Direct3D 12 adapter"); }
  wgpuInstanceEnumerateAdapters(instance, 0, adapters);
  WGPULimits limits = {0};
  wgpuAdapterGetLimits(adapters[0], &limits);
  WGPUDeviceDescriptor wanted = {.requiredLimits = &limits, .uncapturedErrorCallbackInfo = {.callback = got_error}};
  WGPURequestDeviceCallbackInfo then = {.mode = WGPUCallbackMode_AllowSpontaneous, .callback = got_device};
  wgpuAdapterRequestDevice(adapters[0], &wanted, then);
  if (!device) { fail("no device"); }
}

static char *read_text(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) { fail("cannot read a text"); }
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  char *text = calloc(1, (size_t)size + 1);
  if (fread(text, 1, (size_t)size, file) != (size_t)size) { fail("cannot read a text"); }
  fclose(file);
  return text;
}

static double milliseconds(void) {
  LARGE_INTEGER ticks, second;
  QueryPerformanceCounter(&ticks);
  QueryPerformanceFrequency(&second);
  return 1e3 * (double)ticks.QuadPart / (double)second.QuadPart;
}

static void compile(const char *path) {
  char *text = read_text(path);
  WGPUShaderSourceWGSL source = {.chain = {.sType = WGPUSType_ShaderSourceWGSL}, .code = {text, strlen(text)}};
  WGPUShaderModuleDescriptor described = {.nextInChain = &source.chain};
  double began = milliseconds();
  errors = 0;
  // As wgdml/runtime/modules.py: all checks but counters of loops.
  WGPUShaderModule module = wgpuDeviceCreateShaderModuleTrusted(device, &described, 1 | 4 | 8 | 16);
  WGPUComputePipelineDescriptor wanted = {.compute = {.module = module, .entryPoint = {"main", 4}}};
  WGPUComputePipeline pipeline = errors ? 0 : wgpuDeviceCreateComputePipeline(device, &wanted);
  printf("%s %.0f %s\n", errors ? "rejected" : "ok", milliseconds() - began, path);
  fflush(stdout);
  if (pipeline) { wgpuComputePipelineRelease(pipeline); }
  wgpuShaderModuleRelease(module);
  free(text);
}

int main(int count, char **arguments) {
  FILE *list = count == 2 ? fopen(arguments[1], "r") : 0;
  if (!list) { fail("cannot read the list: usage: compile.exe LIST"); }
  open_device();
  char path[1024];
  while (fgets(path, sizeof path, list)) {
    path[strcspn(path, "\r\n")] = 0;
    compile(path);
  }
  return 0;
}
