// Which word holds an element, and its bits, left-aligned for lib/order/key.wgsl.
//   ELEMENT_BYTES  1, 2, 4 or 8
#import order/key

// The first word of an element. Elements of eight bytes have two, the low one first.
fn word_of_element(element: u32) -> u32 {
#if ELEMENT_BYTES == 8
  return 2u * element;
#endif
#if ELEMENT_BYTES == 4
  return element;
#endif
#if ELEMENT_BYTES == 2
  return element >> 1u;
#endif
#if ELEMENT_BYTES == 1
  return element >> 2u;
#endif
}

// The bits of an element of up to four bytes in its word.
fn bits_in_word(word: u32, element: u32) -> u32 {
#if ELEMENT_BYTES > 2
  return word;
#endif
#if ELEMENT_BYTES == 2
  return (word << (16u * (1u - (element & 1u)))) & 0xffff0000u;
#endif
#if ELEMENT_BYTES == 1
  return (word << (24u - 8u * (element & 3u))) & 0xff000000u;
#endif
}
