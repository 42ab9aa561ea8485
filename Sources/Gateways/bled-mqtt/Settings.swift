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

  /// - Throws: `FileError`, or `ValidationError` for a file that others may read or that is missing.
  init(file: String) throws {
    configuration = try GatewayConfiguration(file: file, hostName: Self.hostName)
    if configuration.isSecret { try Self.checkSecret(file) }
    names = try Self.readNames()
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

  private static func readNames() throws -> NameList {
    let path = NameList.systemFile
    guard let data = FileManager.default.contents(atPath: path), data.count <= NameList.longest else {
      return NameList()
    }
    do {
      return try NameList(String(decoding: data, as: UTF8.self))
    } catch {
      throw ValidationError("\(path):\(error)")
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

  /// The first part of the name of this machine.
  private static var hostName: String {
    var octets = [CChar](repeating: 0, count: 256)
    guard gethostname(&octets, octets.count - 1) == 0 else { return "bled" }
    let name = octets.prefix { $0 != 0 && $0 != CChar(UInt8(ascii: ".")) }.map { UInt8(truncatingIfNeeded: $0) }
    return name.isEmpty ? "bled" : String(decoding: name, as: UTF8.self)
  }
}
