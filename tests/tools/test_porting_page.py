"""docs/from-directml.md has every name that a DirectML program for these operators touches."""

from __future__ import annotations

import re
from pathlib import Path

import wgdml
from wgdml import contract

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/from-directml.md").read_text(encoding="utf-8")

TOP_K = "InputTensor OutputValueTensor OutputIndexTensor Axis K"
ARG = "InputTensor OutputTensor AxisCount Axes AxisDirection"
EDGE = "FromNodeIndex FromNodeOutputIndex ToNodeIndex ToNodeInputIndex Name"
#: Structs of directml.h with their fields, and interfaces with their calls.
FIELDS = {
    "DML_TENSOR_DESC": "Type Desc",
    "DML_BUFFER_TENSOR_DESC": "DataType Flags DimensionCount Sizes Strides TotalTensorSizeInBytes GuaranteedBaseOffsetAlignment",
    "DML_OPERATOR_DESC": "Type Desc",
    "DML_TOP_K_OPERATOR_DESC": TOP_K,
    "DML_TOP_K1_OPERATOR_DESC": f"{TOP_K} AxisDirection",
    "DML_ARGMAX_OPERATOR_DESC": ARG,
    "DML_ARGMIN_OPERATOR_DESC": ARG,
    "DML_REDUCE_OPERATOR_DESC": "Function InputTensor OutputTensor AxisCount Axes",
    "DML_BINDING_DESC": "Type Desc",
    "DML_BUFFER_BINDING": "Buffer Offset SizeInBytes",
    "DML_BUFFER_ARRAY_BINDING": "BindingCount Bindings",
    "DML_BINDING_TABLE_DESC": "Dispatchable CPUDescriptorHandle GPUDescriptorHandle SizeInDescriptors",
    "DML_BINDING_PROPERTIES": "RequiredDescriptorCount TemporaryResourceSize PersistentResourceSize",
    "DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT": "DataType",
    "DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT": "IsSupported",
    "DML_FEATURE_QUERY_FEATURE_LEVELS": "RequestedFeatureLevelCount RequestedFeatureLevels",
    "DML_FEATURE_DATA_FEATURE_LEVELS": "MaxSupportedFeatureLevel",
    "DML_GRAPH_DESC": "InputCount OutputCount NodeCount Nodes InputEdgeCount InputEdges OutputEdgeCount OutputEdges "
    "IntermediateEdgeCount IntermediateEdges",
    "DML_GRAPH_NODE_DESC": "Type Desc",
    "DML_OPERATOR_GRAPH_NODE_DESC": "Operator Name",
    "DML_CONSTANT_DATA_GRAPH_NODE_DESC": "Data DataSize Name",
    "DML_GRAPH_EDGE_DESC": "Type Desc",
    "DML_INPUT_GRAPH_EDGE_DESC": "GraphInputIndex ToNodeIndex ToNodeInputIndex Name",
    "DML_OUTPUT_GRAPH_EDGE_DESC": "FromNodeIndex FromNodeOutputIndex GraphOutputIndex Name",
    "DML_INTERMEDIATE_GRAPH_EDGE_DESC": EDGE,
    "functions": "DMLCreateDevice DMLCreateDevice1 DMLCalcBufferTensorSize",
    "IDMLObject": "SetName GetPrivateData SetPrivateData SetPrivateDataInterface",
    "IDMLDeviceChild": "GetDevice",
    "IDMLDevice": "CheckFeatureSupport CreateOperator CompileOperator CreateOperatorInitializer CreateCommandRecorder "
    "CreateBindingTable Evict MakeResident GetDeviceRemovedReason GetParentDevice",
    "IDMLDevice1": "CompileGraph",
    "IDMLDebugDevice": "SetMuteDebugOutput",
    "IDMLPageable": "",
    "IDMLOperator": "",
    "IDMLCompiledOperator": "",
    "IDMLDispatchable": "GetBindingProperties",
    "IDMLOperatorInitializer": "Reset",
    "IDMLBindingTable": "BindInputs BindOutputs BindTemporaryResource BindPersistentResource Reset",
    "IDMLCommandRecorder": "RecordDispatch",
    "ID3D12Device": "CreateCommittedResource CreateCommandQueue CreateCommandAllocator CreateCommandList CreateDescriptorHeap "
    "GetDescriptorHandleIncrementSize CreateFence",
    "ID3D12DescriptorHeap": "GetCPUDescriptorHandleForHeapStart GetGPUDescriptorHandleForHeapStart",
    "ID3D12Fence": "SetEventOnCompletion",
    "ID3D12Resource": "Map Unmap",
    "ID3D12GraphicsCommandList": "CopyBufferRegion Close Reset ResourceBarrier SetDescriptorHeaps",
    "ID3D12CommandQueue": "ExecuteCommandLists Signal",
}
#: Enumerations, constants and HRESULTs.
NAMES = """
DML_TENSOR_DATA_TYPE DML_TENSOR_TYPE DML_TENSOR_FLAGS DML_OPERATOR_TYPE DML_AXIS_DIRECTION DML_REDUCE_FUNCTION DML_FEATURE
DML_FEATURE_LEVEL DML_BINDING_TYPE DML_EXECUTION_FLAGS DML_CREATE_DEVICE_FLAGS DML_GRAPH_NODE_TYPE DML_GRAPH_EDGE_TYPE
DML_TENSOR_DIMENSION_COUNT_MAX DML_TENSOR_DIMENSION_COUNT_MAX1 DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT DML_TEMPORARY_BUFFER_ALIGNMENT
DML_PERSISTENT_BUFFER_ALIGNMENT S_OK E_INVALIDARG E_OUTOFMEMORY DXGI_ERROR_DEVICE_REMOVED DXGI_ERROR_DEVICE_HUNG
DXGI_ERROR_DEVICE_RESET DXGI_ERROR_UNSUPPORTED DXGI_ERROR_SDK_COMPONENT_MISSING
"""


def rows(columns: int) -> list[list[str]]:
    """The rows of all tables of so many columns, without heads and rules."""
    lines = [
        [cell.strip() for cell in line[1:-1].split(" | ")] for line in PAGE.replace("| |", "|  |").splitlines() if line[:1] == "|"
    ]
    return [cells for cells in lines if len(cells) == columns and "`" in "".join(cells[:2])]


def spans(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_every_struct_field_and_call_has_a_row():
    said: dict[str, set[str]] = {}
    for owner, members, here in rows(3):
        assert here, (owner, members)
        said.setdefault(owner.strip("`"), set()).update(spans(members))
    for owner, members in FIELDS.items():
        assert said.pop(owner) == set(members.split()), owner
    assert set(said) <= {"directml.h"}, "names that the list does not have"


def test_every_call_of_the_demo_s_program_has_a_row():
    program = (ROOT / "demos/from_directml/detect.cpp").read_text(encoding="utf-8")
    calls = set(re.findall(r"->(\w+)\(|\b(DML\w+1?)\(", program))
    assert len(calls) > 20
    for call in map("".join, calls):
        assert f"`{call}`" in PAGE, call


def test_every_enumeration_constant_and_hresult_has_a_row():
    said = {name: here for names, here in rows(2) for name in spans(names)}
    for name in NAMES.split():
        assert said.get(name), name


def test_operators_of_the_feature_table_are_there():
    for operator in contract.FEATURE_TABLE:
        assert f"DML_{operator.split()[0]}_OPERATOR_DESC" in FIELDS
        assert re.search(rf"^\| .*{operator.split()[-1]}.* \| [1-6]_\d \|", PAGE, re.MULTILINE), operator


def test_levels_of_the_page_are_those_of_the_table():
    """Each row of contract.FEATURE_TABLE has its row, with the level and the ranks."""
    table = re.findall(r"^\| ([A-Z_0-9, ]+) \| (\d_\d) \| (4|1 to 8) \|", PAGE, re.MULTILINE)
    for operator, levels in contract.FEATURE_TABLE.items():
        wanted = [(row.level.name.removeprefix("LEVEL_"), "4" if len(row.ranks) == 1 else "1 to 8") for row in levels]
        kind, _, function = operator.partition(" ")
        named = [
            (level, ranks)
            for names, level, ranks in table
            if (function or ("ARGMAX" if kind == "REDUCE" else kind)) in names.replace("REDUCE ", "").split(", ")
            and names.startswith("REDUCE") == (kind == "REDUCE")
        ]
        assert named == wanted, operator


def test_what_the_page_names_exists(device):
    desc = wgdml.ArgmaxOperatorDesc(
        wgdml.TensorDesc(wgdml.DataType.FLOAT32, (3,)), wgdml.TensorDesc(wgdml.DataType.UINT32, (1,)), (0,)
    )
    operator = device.create_operator(desc)
    compiled = device.compile_operator(operator)
    things = {
        "device": device,
        "operator": operator,
        "compiled": compiled,
        "tensor": wgdml.empty((3,), "float32", device=device),
        "BindingProperties": compiled.binding_properties,
    }
    for word, thing in things.items():
        named = set(re.findall(rf"`[^`]*(?<![\w.]){word}\.(\w+)", PAGE))
        assert named and all(hasattr(thing, name) for name in named), (word, named)
    for name in re.findall(r"`wgdml\.(\w+)", PAGE):
        assert hasattr(wgdml, name), name
    for name in re.findall(r"`desc\.(\w+)`", PAGE):
        assert hasattr(desc, name) or hasattr(desc.input_tensor, name), name
