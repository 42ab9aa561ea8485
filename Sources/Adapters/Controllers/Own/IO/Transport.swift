import Glibc

/// An open way to a controller: a stream of octets in both directions.
struct Transport {
  let descriptor: Descriptor
  /// True if the other end has not accepted yet.
  let isConnecting: Bool
  private let isSocket: Bool
  /// The serial line, if it is one.
  private let line: SerialLine?

  /// Opens the way to a controller, without waiting.
  /// - Throws: `SystemError`, such as ENOENT or ECONNREFUSED when there is none.
  init(to address: TransportAddress) throws(SystemError) {
    switch address {
    case .unix(let path):
      (descriptor, isConnecting) = try Self.unix(path)
      (isSocket, line) = (true, nil)
    case .tcp(let host, let port):
      (descriptor, isConnecting) = try Self.tcp(host, port)
      (isSocket, line) = (true, nil)
    case .serial(let path, let speed, let hasFlowControl):
      let line = try SerialLine(path, speed, hasFlowControl: hasFlowControl)
      descriptor = line.descriptor
      (isConnecting, isSocket, self.line) = (false, false, line)
    }
  }

  /// The error with which a connection was refused; nil if it was accepted.
  var connectError: SystemError? {
    var code: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(descriptor.number, SOL_SOCKET, SO_ERROR, &code, &length) == 0 else { return Self.lastError }
    return code == 0 ? nil : SystemError(result: -code)
  }

  /// Reads received octets.
  /// - Returns: their number; 0 at the end, nil when there are none for now.
  func read(into buffer: inout [UInt8]) throws(SystemError) -> Int? {
    try Self.transferred(Glibc.read(descriptor.number, &buffer, buffer.count))
  }

  /// Writes octets.
  /// - Returns: their number; nil without room for now.
  func write(_ octets: ArraySlice<UInt8>) throws(SystemError) -> Int? {
    let result = octets.withUnsafeBytes { buffer in
      isSocket
        ? send(descriptor.number, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
        : Glibc.write(descriptor.number, buffer.baseAddress, buffer.count)
    }
    return try Self.transferred(result)
  }

  /// The known reason for silence; nil if there is none.
  var obstacle: String? { line?.obstacle }

  private static var lastError: SystemError { SystemError(result: -errno) }

  private static func transferred(_ result: Int) throws(SystemError) -> Int? {
    if result >= 0 { return result }
    let error = lastError
    if error.code == EAGAIN || error.code == EINTR { return nil }
    throw error
  }

  // MARK: - Sockets

  private static func socket(_ family: Int32) throws(SystemError) -> Descriptor {
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let number = Glibc.socket(family, type, 0)
    guard number >= 0 else { throw lastError }
    return Descriptor(number)
  }

  /// - Returns: true if the other end has not accepted yet.
  private static func connect(
    _ descriptor: Descriptor, _ address: UnsafePointer<sockaddr>, _ length: socklen_t
  ) throws(SystemError) -> Bool {
    if Glibc.connect(descriptor.number, address, length) == 0 { return false }
    let error = lastError
    guard error.code == EINPROGRESS else { throw error }
    return true
  }

  private static func unix(_ path: String) throws(SystemError) -> (Descriptor, Bool) {
    let descriptor = try socket(AF_UNIX)
    var name = Array(path.utf8)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { throw SystemError(result: -ENAMETOOLONG) }
    let isAbstract = name.first == UInt8(ascii: "@")
    if isAbstract { name[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    // An abstract name ends with the address, a path with a zero.
    let length = MemoryLayout.offset(of: \sockaddr_un.sun_path).map { $0 + name.count + (isAbstract ? 0 : 1) } ?? 0
    var isConnecting = false
    var failure: SystemError?
    withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        do throws(SystemError) { isConnecting = try connect(descriptor, pointer, socklen_t(length)) } catch {
          failure = error
        }
      }
    }
    if let failure { throw failure }
    return (descriptor, isConnecting)
  }

  private static func tcp(_ host: String, _ port: UInt16) throws(SystemError) -> (Descriptor, Bool) {
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, "\(port)", &hints, &list) == 0, let first = list else {
      throw SystemError(result: -EADDRNOTAVAIL)
    }
    defer { freeaddrinfo(list) }
    guard let address = first.pointee.ai_addr else { throw SystemError(result: -EADDRNOTAVAIL) }
    let descriptor = try socket(first.pointee.ai_family)
    // Packets are small, and answers are awaited.
    set(IPPROTO_TCP, TCP_NODELAY, 1, of: descriptor)
    // A vanished machine sends nothing: it is probed after 10 s of silence, every 5 s, and given up after 3 probes.
    set(SOL_SOCKET, SO_KEEPALIVE, 1, of: descriptor)
    set(IPPROTO_TCP, TCP_KEEPIDLE, 10, of: descriptor)
    set(IPPROTO_TCP, TCP_KEEPINTVL, 5, of: descriptor)
    set(IPPROTO_TCP, TCP_KEEPCNT, 3, of: descriptor)
    return (descriptor, try connect(descriptor, address, first.pointee.ai_addrlen))
  }

  /// Sets a socket option that is not essential.
  private static func set(_ level: some BinaryInteger, _ option: Int32, _ value: Int32, of descriptor: Descriptor) {
    var value = value
    _ = setsockopt(descriptor.number, Int32(level), option, &value, socklen_t(MemoryLayout<Int32>.size))
  }
}
