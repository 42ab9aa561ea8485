import ArgumentParser
import FoundationEssentials
import Glibc
import JSONFiles
import MQTTGateway
import ValueFormats

/// The configuration and the files that it names.
struct Settings {
  let configuration: GatewayConfiguration
  let credentials: BrokerCredentials?
  /// The names and formats that the owner of the machine gives.
  let names: NameList
  /// The fault of their file, which is then not used; nil for none.
  let namesFault: String?

  /// - Throws: `FileError`, or `ValidationError` for a missing file, or one that other users may read.
  init(file: String) throws {
    configuration = try GatewayConfiguration(file: file, hostName: Self.hostName)
    if configuration.isSecret { try Self.checkSecret(file) }
    let (names, fault) = Self.readNames()
    (self.names, namesFault) = (names, fault)
    let broker = configuration.broker
    credentials = try broker.credentials.map { path in
      try Self.checkSecret(path)
      return try BrokerCredentials(file: path)
    }
    if let key = broker.tls?.key { try Self.checkSecret(key) }
    for path in [broker.tls?.authority, broker.tls?.certificate, broker.tls?.key].compactMap(\.self) {
      guard access(path, R_OK) == 0 else {
        throw ValidationError("\(path): the file cannot be read: \(String(cString: strerror(errno)))")
      }
    }
  }

  private static func readNames() -> (NameList, String?) {
    let path = NameList.systemFile
    guard let data = FileManager.default.contents(atPath: path) else {
      guard access(path, F_OK) == 0 else { return (NameList(), nil) }
      return (NameList(), "\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
    guard data.count <= NameList.longest, let text = String(validating: data, as: UTF8.self) else {
      return (NameList(), "\(path) is not text in UTF-8 of at most \(NameList.longest >> 10) KiB")
    }
    do throws(NameList.Fault) {
      return (try NameList(text), nil)
    } catch {
      return (NameList(), "\(path):\(error)")
    }
  }

  /// A secret that every user can read is none.
  private static func checkSecret(_ path: String) throws {
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw ValidationError("\(path): the file cannot be read: \(String(cString: strerror(errno)))")
    }
    guard status.st_mode & 0o007 == 0 else {
      throw ValidationError("\(path): every user can read this secret: run \"chmod 640 \(path)\"")
    }
  }

  /// The first part of this machine's name.
  private static var hostName: String {
    var octets = [CChar](repeating: 0, count: 256)
    guard gethostname(&octets, octets.count - 1) == 0 else { return "bled" }
    let name = octets.prefix { $0 != 0 && $0 != CChar(UInt8(ascii: ".")) }.map { UInt8(truncatingIfNeeded: $0) }
    return name.isEmpty ? "bled" : String(decoding: name, as: UTF8.self)
  }
}
