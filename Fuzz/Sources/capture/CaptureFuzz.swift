import Bluetooth
import Capture
import Fuzzing

/// Recordings in all forms, and the packets in them: nothing traps, lengths stay, what is blanked stays blanked, and
/// what their devices are can be written.
@main
enum CaptureFuzz {
  static func main() {
    fuzz { octets in
      var whole = RecordingParser()
      whole.append(octets[...])
      while (try? whole.next()) != nil {}
      var reader = RecordingParser()
      var blanking = KeyBlanking()
      var again = KeyBlanking()
      var decoder = TrafficDecoder(advertisements: true, commands: true)
      var recorder = DeviceRecorder()
      var writers = CaptureFormat.allCases.map { CaptureWriter($0) }
      // Whole, so that a recording need not be found first.
      reader.append(CaptureWriter(.btsnoop).start[...])
      reader.append(octets[...])
      while let record = try? reader.next() {
        let blanked = blanking.blank(record.packet)
        invariant(blanked.octets.count == record.packet.octets.count, "a packet of another length")
        invariant(again.blank(blanked) == blanked, "what was blanked is blanked further")
        _ = decoder.decode(record)
        recorder.receive(record)
        for index in writers.indices {
          if writers[index].interface(of: record.adapter, name: "a") != nil {
            writers[index].wroteInterface(of: record.adapter)
          }
          invariant(writers[index].piece(record).count <= CaptureWriter.longestPiece, "a piece is too long for a pipe")
        }
      }
      _ = ScenarioText.text(recorder.devices)
    }
  }
}
