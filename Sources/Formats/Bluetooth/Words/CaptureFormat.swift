/// The forms of a recording.
public enum CaptureFormat: String, Vocabulary {
  /// PCAP Next Generation (draft-ietf-opsawg-pcapng), link type 254: LINKTYPE_BLUETOOTH_LINUX_MONITOR.
  case pcapng
  /// The btsnoop of Linux: version 1, datalink type 2001, as btmon reads and writes it.
  case btsnoop
}
