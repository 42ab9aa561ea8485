import BledRPC
import Bluetooth

/// The message that answers a command, in the members of OpenMQTTGateway.
struct CommandAnswer {
  let command: Command?
  let result: Result<[UInt8], Failure>
  let gateway: String
  /// In seconds since the epoch.
  let time: Double

  /// The reason why a command failed: the sentence, and the name of the error, if bled gave one.
  struct Failure: Error {
    let message: String
    let name: String?

    init(_ message: String, name: String? = nil) {
      self.message = message
      self.name = name
    }

    init(_ error: BluetoothError) { self.init(error.message, name: error.name) }
  }

  /// The octets.
  /// - Throws: for numbers that JSON does not have.
  func octets() throws -> [UInt8] {
    var writer = JSONWriter()
    try writer.object { writer in
      switch command {
      case .read(let target), .write(let target, _, _):
        writer.member("id", "\(target.address)")
        if let service = target.service { writer.member("service", "\(service)".lowercased()) }
        writer.member("characteristic", "\(target.characteristic)".lowercased())
      case .scan(let isActive): writer.member("activescan", isActive)
      case nil: break
      }
      switch (command, result) {
      case (.read(let target), .success(let value)):
        writer.name("read")
        try writer.encode(target.form.text(value))
      case (.write(let target, let value, _), _):
        writer.name("write")
        try writer.encode(target.form.text(value))
      default: break
      }
      if case .failure(let failure) = result {
        writer.member("success", false)
        writer.member("error", failure.message)
        if let name = failure.name { writer.member("error_name", name) }
      } else {
        writer.member("success", true)
      }
      writer.member("gateway", gateway)
      try writer.time(time)
    }
    return writer.codes
  }
}
