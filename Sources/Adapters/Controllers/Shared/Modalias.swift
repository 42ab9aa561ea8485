import Glibc

/// The names of this machine's controllers for drivers.
enum Modalias {
  /// The name of a controller, such as "hci0"; empty if the system has none.
  static func read(of adapter: String) -> String {
    var line = [UInt8](repeating: 0, count: 256)
    guard let file = fopen("/sys/class/bluetooth/\(adapter)/device/modalias", "re") else { return "" }
    defer { fclose(file) }
    let count = fread(&line, 1, line.count, file)
    return String(decoding: line.prefix(count), as: UTF8.self)
  }
}
