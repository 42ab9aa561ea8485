import Glibc
import Radio

extension ControllerFaults {
  /// The known faults of the controller with this name, such as "hci0".
  init(of adapter: String) {
    var line = [UInt8](repeating: 0, count: 256)
    guard let file = fopen("/sys/class/bluetooth/\(adapter)/device/modalias", "re") else {
      self = []
      return
    }
    defer { fclose(file) }
    let count = fread(&line, 1, line.count, file)
    self.init(modalias: String(decoding: line.prefix(count), as: UTF8.self))
  }
}
