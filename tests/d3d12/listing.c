// Stands for d3dcompiler_47.dll: compiles by the real one, fxc.dll, and lists what that makes.
//
// The environment's FXC_LISTING is the file to write. direct3d.c sets it for each text.
#define COBJMACROS
#include <stdio.h>
#include <windows.h>

#include <d3dcompiler.h>

typedef HRESULT(WINAPI *Compile)(LPCVOID, SIZE_T, LPCSTR, const D3D_SHADER_MACRO *, ID3DInclude *, LPCSTR, LPCSTR, UINT, UINT,
                                 ID3DBlob **, ID3DBlob **);
typedef HRESULT(WINAPI *Disassemble)(LPCVOID, SIZE_T, UINT, LPCSTR, ID3DBlob **);

__declspec(dllexport) HRESULT WINAPI D3DCompile(LPCVOID text, SIZE_T size, LPCSTR name, const D3D_SHADER_MACRO *macros,
                                                ID3DInclude *include, LPCSTR entry, LPCSTR target, UINT flags, UINT effects,
                                                ID3DBlob **code, ID3DBlob **messages) {
  HMODULE fxc = LoadLibraryA("fxc.dll");
  Compile compile = (Compile)(void *)GetProcAddress(fxc, "D3DCompile");
  Disassemble disassemble = (Disassemble)(void *)GetProcAddress(fxc, "D3DDisassemble");
  if (!compile || !disassemble) { return E_FAIL; }
  HRESULT result = compile(text, size, name, macros, include, entry, target, flags, effects, code, messages);
  char path[MAX_PATH];
  if (FAILED(result) || !GetEnvironmentVariableA("FXC_LISTING", path, sizeof path)) { return result; }
  ID3DBlob *listing = 0;
  disassemble(ID3D10Blob_GetBufferPointer(*code), ID3D10Blob_GetBufferSize(*code), 0, 0, &listing);
  FILE *file = fopen(path, "wb");
  if (listing && file) { fwrite(ID3D10Blob_GetBufferPointer(listing), 1, ID3D10Blob_GetBufferSize(listing), file); }
  if (file) { fclose(file); }
  return result;
}
