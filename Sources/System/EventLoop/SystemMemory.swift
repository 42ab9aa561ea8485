import CSystemd

/// The process's memory from the system.
public enum SystemMemory {
  /// Returns freed memory, if it is more than this many octets: glibc keeps the gaps between used pieces, which after a
  /// flood are most of it. Takes some milliseconds.
  public static func giveBackFreed(above octets: Int) {
    if mallinfo2().fordblks > octets { malloc_trim(0) }
  }
}
