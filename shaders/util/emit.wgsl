// Pairs in order to the output tensors, each window with the values it holds: source -> sink.
#import io/source
#import io/sink

fn run(workgroup: u32, local: u32) {
  let at = workgroup * WORKGROUP + local;
  let sequence = at / params.length;
  let rank = at - sequence * params.length;
  if (sequence < params.sequences) {
    let row = row_of(sequence);
    put(sequence, rank, load(row, rank + params.first_rank));
  }
}
