// Before: the best detections of a YOLO head with DirectML. Windows, Direct3D 12; not built here. Beside it lies detect.py, step by step
// the same. Each of N rows has a box, an objectness, padding to 8 floats, and the scores of C classes. Wanted: of each row the best
// score and its class, and the K rows whose best scores are highest.
#include <DirectML.h>
#include <d3d12.h>
#include <wil/result.h>  // THROW_IF_FAILED
#include <wrl/client.h>

#include <array>
#include <vector>

using Microsoft::WRL::ComPtr;

constexpr UINT N = 10647, C = 80, K = 100, ROW = 88;

struct Detections { std::vector<float> values; std::vector<UINT> rows, classes; };

struct Tensor {
  DML_BUFFER_TENSOR_DESC buffer{};
  DML_TENSOR_DESC desc{DML_TENSOR_TYPE_BUFFER, &buffer};
  std::array<UINT, 4> sizes, strides;
  ComPtr<ID3D12Resource> resource;
  DML_BUFFER_BINDING binding{};

  Tensor(DML_TENSOR_DATA_TYPE type, std::array<UINT, 4> s, std::array<UINT, 4> t, UINT64 bytes) : sizes(s), strides(t) {
    buffer = {type, DML_TENSOR_FLAG_NONE, 4, sizes.data(), strides.data(), bytes, 0};
  }
};

ComPtr<ID3D12Resource> MakeBuffer(ID3D12Device* d3d12, UINT64 size, D3D12_HEAP_TYPE heap) {
  bool readback = heap == D3D12_HEAP_TYPE_READBACK;
  D3D12_HEAP_PROPERTIES properties{heap};
  D3D12_RESOURCE_DESC desc{D3D12_RESOURCE_DIMENSION_BUFFER, 0, size, 1, 1, 1, DXGI_FORMAT_UNKNOWN, {1, 0}, D3D12_TEXTURE_LAYOUT_ROW_MAJOR,
                           readback ? D3D12_RESOURCE_FLAG_NONE : D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS};
  auto state = readback ? D3D12_RESOURCE_STATE_COPY_DEST : D3D12_RESOURCE_STATE_UNORDERED_ACCESS;
  ComPtr<ID3D12Resource> buffer;
  THROW_IF_FAILED(d3d12->CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc, state, nullptr, IID_PPV_ARGS(&buffer)));
  return buffer;
}

Detections Detect(ID3D12Device* d3d12, ID3D12CommandQueue* queue, ID3D12Resource* head) {
  // 1. The device.
  ComPtr<IDMLDevice> dml;
  THROW_IF_FAILED(DMLCreateDevice1(d3d12, DML_CREATE_DEVICE_FLAG_NONE, DML_FEATURE_LEVEL_3_0, IID_PPV_ARGS(&dml)));

  // 2. The tensors. The scores lie 8 floats into each row of the head.
  UINT64 scoreBytes = (UINT64(N - 1) * ROW + C) * 4;
  Tensor scores{DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, N, C}, {0, 0, ROW, 1}, scoreBytes};
  Tensor best{DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, N, 1}, {N, N, 1, 1}, N * 4};
  Tensor classes{DML_TENSOR_DATA_TYPE_UINT32, {1, 1, N, 1}, {N, N, 1, 1}, N * 4};
  Tensor values{DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, K, 1}, {K, K, 1, 1}, K * 4};
  Tensor rows{DML_TENSOR_DATA_TYPE_UINT32, {1, 1, K, 1}, {K, K, 1, 1}, K * 4};
  scores.binding = {head, 8 * sizeof(float), scoreBytes};
  for (Tensor* tensor : {&best, &classes, &values, &rows}) {
    tensor->resource = MakeBuffer(d3d12, tensor->buffer.TotalTensorSizeInBytes, D3D12_HEAP_TYPE_DEFAULT);
    tensor->binding = {tensor->resource.Get(), 0, tensor->buffer.TotalTensorSizeInBytes};
  }

  // 3. The operators.
  UINT axes[] = {3};
  DML_REDUCE_OPERATOR_DESC max{DML_REDUCE_FUNCTION_MAX, &scores.desc, &best.desc, 1, axes};
  DML_REDUCE_OPERATOR_DESC argmax{DML_REDUCE_FUNCTION_ARGMAX, &scores.desc, &classes.desc, 1, axes};
  DML_TOP_K1_OPERATOR_DESC topk{&best.desc, &values.desc, &rows.desc, 2, K, DML_AXIS_DIRECTION_DECREASING};
  DML_OPERATOR_DESC descs[] = {{DML_OPERATOR_REDUCE, &max}, {DML_OPERATOR_REDUCE, &argmax}, {DML_OPERATOR_TOP_K1, &topk}};
  std::vector<std::vector<Tensor*>> outputs{{&best}, {&classes}, {&values, &rows}};
  std::vector<Tensor*> inputs{&scores, &scores, &best};

  // 4. Compiled, and initialised.
  std::array<ComPtr<IDMLCompiledOperator>, 3> compiled;
  std::array<IDMLCompiledOperator*, 3> raw;
  for (int i = 0; i < 3; i++) {
    ComPtr<IDMLOperator> op;
    THROW_IF_FAILED(dml->CreateOperator(&descs[i], IID_PPV_ARGS(&op)));
    THROW_IF_FAILED(dml->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled[i])));
    raw[i] = compiled[i].Get();
  }
  ComPtr<IDMLOperatorInitializer> initializer;
  THROW_IF_FAILED(dml->CreateOperatorInitializer(3, raw.data(), IID_PPV_ARGS(&initializer)));

  // 5. Descriptors, temporary and persistent memory, and a binding table for each dispatch.
  std::vector<IDMLDispatchable*> dispatchables{initializer.Get(), raw[0], raw[1], raw[2]};
  std::vector<DML_BINDING_PROPERTIES> needs;
  UINT descriptors = 0;
  for (IDMLDispatchable* dispatchable : dispatchables) {
    needs.push_back(dispatchable->GetBindingProperties());
    descriptors += needs.back().RequiredDescriptorCount;
  }
  D3D12_DESCRIPTOR_HEAP_DESC heapDesc{D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, descriptors, D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE};
  ComPtr<ID3D12DescriptorHeap> heap;
  THROW_IF_FAILED(d3d12->CreateDescriptorHeap(&heapDesc, IID_PPV_ARGS(&heap)));
  UINT step = d3d12->GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
  std::vector<ComPtr<IDMLBindingTable>> tables(4);
  std::vector<ComPtr<ID3D12Resource>> kept;
  UINT first = 0;
  std::vector<DML_BUFFER_BINDING> persistent(3);
  for (int i = 0; i < 4; i++) {
    DML_BINDING_TABLE_DESC table{dispatchables[i], heap->GetCPUDescriptorHandleForHeapStart(), heap->GetGPUDescriptorHandleForHeapStart(),
                                 needs[i].RequiredDescriptorCount};
    table.CPUDescriptorHandle.ptr += SIZE_T(first) * step;
    table.GPUDescriptorHandle.ptr += UINT64(first) * step;
    first += needs[i].RequiredDescriptorCount;
    THROW_IF_FAILED(dml->CreateBindingTable(&table, IID_PPV_ARGS(&tables[i])));
    if (UINT64 size = needs[i].TemporaryResourceSize) {
      kept.push_back(MakeBuffer(d3d12, size, D3D12_HEAP_TYPE_DEFAULT));
      DML_BUFFER_BINDING buffer{kept.back().Get(), 0, size};
      DML_BINDING_DESC binding{DML_BINDING_TYPE_BUFFER, &buffer};
      tables[i]->BindTemporaryResource(&binding);
    }
    if (i == 0) { continue; }
    if (UINT64 size = needs[i].PersistentResourceSize) {
      kept.push_back(MakeBuffer(d3d12, size, D3D12_HEAP_TYPE_DEFAULT));
      persistent[i - 1] = {kept.back().Get(), 0, size};
      DML_BINDING_DESC binding{DML_BINDING_TYPE_BUFFER, &persistent[i - 1]};
      tables[i]->BindPersistentResource(&binding);
    }
    DML_BINDING_DESC input{DML_BINDING_TYPE_BUFFER, &inputs[i - 1]->binding};
    tables[i]->BindInputs(1, &input);
    std::vector<DML_BINDING_DESC> output;
    for (Tensor* tensor : outputs[i - 1]) { output.push_back({DML_BINDING_TYPE_BUFFER, &tensor->binding}); }
    tables[i]->BindOutputs(UINT(output.size()), output.data());
  }
  std::vector<DML_BINDING_DESC> initialised;  // What the initialiser writes: the persistent memory of each operator.
  for (DML_BUFFER_BINDING& buffer : persistent) {
    initialised.push_back(buffer.Buffer ? DML_BINDING_DESC{DML_BINDING_TYPE_BUFFER, &buffer} : DML_BINDING_DESC{DML_BINDING_TYPE_NONE, nullptr});
  }
  tables[0]->BindOutputs(3, initialised.data());

  // 6. Recorded, with barriers between what depends on one another.
  ComPtr<ID3D12CommandAllocator> allocator;
  ComPtr<ID3D12GraphicsCommandList> list;
  THROW_IF_FAILED(d3d12->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT, IID_PPV_ARGS(&allocator)));
  THROW_IF_FAILED(d3d12->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator.Get(), nullptr, IID_PPV_ARGS(&list)));
  ComPtr<IDMLCommandRecorder> recorder;
  THROW_IF_FAILED(dml->CreateCommandRecorder(IID_PPV_ARGS(&recorder)));
  ID3D12DescriptorHeap* heaps[] = {heap.Get()};
  list->SetDescriptorHeaps(1, heaps);
  D3D12_RESOURCE_BARRIER barrier{D3D12_RESOURCE_BARRIER_TYPE_UAV};
  for (int i = 0; i < 4; i++) {
    recorder->RecordDispatch(list.Get(), dispatchables[i], tables[i].Get());
    list->ResourceBarrier(1, &barrier);
  }

  // 7. Run, waited for and read.
  std::vector<Tensor*> wanted{&values, &rows, &classes};
  std::vector<ComPtr<ID3D12Resource>> readback;
  for (Tensor* tensor : wanted) {
    D3D12_RESOURCE_BARRIER copy{D3D12_RESOURCE_BARRIER_TYPE_TRANSITION};
    copy.Transition = {tensor->resource.Get(), 0, D3D12_RESOURCE_STATE_UNORDERED_ACCESS, D3D12_RESOURCE_STATE_COPY_SOURCE};
    list->ResourceBarrier(1, &copy);
    readback.push_back(MakeBuffer(d3d12, tensor->buffer.TotalTensorSizeInBytes, D3D12_HEAP_TYPE_READBACK));
    list->CopyBufferRegion(readback.back().Get(), 0, tensor->resource.Get(), 0, tensor->buffer.TotalTensorSizeInBytes);
  }
  THROW_IF_FAILED(list->Close());
  ID3D12CommandList* lists[] = {list.Get()};
  queue->ExecuteCommandLists(1, lists);
  ComPtr<ID3D12Fence> fence;
  THROW_IF_FAILED(d3d12->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)));
  THROW_IF_FAILED(queue->Signal(fence.Get(), 1));
  THROW_IF_FAILED(fence->SetEventOnCompletion(1, nullptr));
  THROW_IF_FAILED(dml->GetDeviceRemovedReason());
  void* mapped[3];
  for (int i = 0; i < 3; i++) { THROW_IF_FAILED(readback[i]->Map(0, nullptr, &mapped[i])); }
  auto* value = static_cast<float*>(mapped[0]);
  auto* row = static_cast<UINT*>(mapped[1]);
  Detections found{{value, value + K}, {row, row + K}, {}};

  // 8. The classes of the best rows.
  for (UINT r : found.rows) { found.classes.push_back(static_cast<UINT*>(mapped[2])[r]); }
  return found;
}
