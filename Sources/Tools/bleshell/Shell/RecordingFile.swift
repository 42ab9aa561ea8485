import Capture
import Glibc

/// A recording in a file.
struct RecordingFile: Sendable {
  /// Files with these suffixes are recordings: of bled, btmon, Wireshark, Android and Apple's PacketLogger.
  private static let suffixes = [".pcapng", ".pcap", ".btsnoop", ".snoop", ".pklg", ".log", ".cfa"]
  let path: String

  /// True if a word of a command names a recording rather than a device.
  static func isNamed(_ word: String) -> Bool {
    word.contains("/") || suffixes.contains { word.lowercased().hasSuffix($0) }
  }

  /// The unread rest of a recording, in octets.
  struct Rest {
    var octets: Int
  }

  /// Reads the packets one after the other.
  /// - Returns: the octets behind the last whole packet.
  /// - Throws: `Failure` if the file cannot be read or is not a recording; and as `receive`.
  @discardableResult
  @MainActor func read(_ receive: @MainActor (CaptureRecord) async throws -> Void) async throws -> Rest {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(String(cString: strerror(errno))) }
    defer { close(descriptor) }
    var parser = RecordingParser()
    var octets = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Glibc.read(descriptor, &octets, octets.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure(String(cString: strerror(errno))) }
      guard count > 0 else { break }
      parser.append(octets[..<count])
      while let record = try next(&parser) { try await receive(record) }
      try Task.checkCancellation()
    }
    guard parser.hasBegun else { throw failure(RecordingProblem.unknownForm.message) }
    return Rest(octets: parser.unreadCount)
  }

  private func next(_ parser: inout RecordingParser) throws -> CaptureRecord? {
    do throws(RecordingProblem) {
      return try parser.next()
    } catch {
      throw failure(error.message)
    }
  }

  private func failure(_ reason: String) -> Failure { Failure("\(path): \(reason)") }

  /// The devices in it, and facts about the whole.
  @MainActor func devices() async throws -> (devices: [RecordedDevice], remarks: [String]) {
    var recorder = DeviceRecorder()
    let rest = try await read { recorder.receive($0) }
    var remarks: [String] = []
    if recorder.devicesLeftOut > 0 {
      remarks.append("more than \(DeviceRecorder.maximumDevices) devices: the others are left out")
    }
    if recorder.packetsWithoutDevice > 0 {
      remarks.append(
        "\(recorder.packetsWithoutDevice) packets are of links that came up before the recording: their devices are "
          + "not known")
    }
    if rest.octets > 0 { remarks.append("the recording ends within a packet") }
    return (recorder.devices, remarks)
  }
}
