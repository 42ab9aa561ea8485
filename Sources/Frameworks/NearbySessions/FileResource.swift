import BluetoothCrypto
import BledClient
private import Glibc

/// A file sent or received as a resource.
public struct FileResource: Sendable {
  /// The octets read at a time.
  static let piece = 32 << 10

  /// The file's path.
  public let path: String

  /// Names a file.
  public init(path: String) { self.path = path }

  /// Reads the file once, for an offer.
  /// - Throws: `BledError.invalidParameter` with the system's reason, also for a file that is not regular.
  public func offer() throws(BluetoothError) -> ResourceOffer {
    let file = try OpenFile(path, O_RDONLY)
    var hash = SHA256Stream()
    var size: UInt64 = 0
    while case let octets = try file.read(Self.piece), !octets.isEmpty {
      hash.update(octets)
      size += UInt64(octets.count)
    }
    let name = path.split(separator: "/").last.map(String.init) ?? path
    return ResourceOffer(name: name.cut(to: 255), size: size, hash: hash.hash())
  }

  /// Sends the offered file, and waits until the peer has all of it.
  /// - Parameter progress: called with the number of octets sent or received.
  /// - Returns: the outcome; cancelling the task ends it.
  /// - Throws: as `offer`, if the file cannot be read to the end.
  public func send(
    _ offer: ResourceOffer, over flow: OutgoingFlow, progress: @Sendable (UInt64) -> Void = { _ in }
  ) async throws(BluetoothError) -> FlowEnd {
    guard var done = await flow.accepted() else { return await Self.end(of: flow) }
    do throws(BluetoothError) {
      let file = try OpenFile(path, O_RDONLY)
      try file.seek(done)
      while done < offer.size {
        let octets = try file.read(Int(min(UInt64(Self.piece), offer.size - done)))
        guard !octets.isEmpty else {
          throw BledError.invalidParameter.error("\(path) has become shorter while it was sent")
        }
        guard await flow.write(octets) else { break }
        done += UInt64(octets.count)
        progress(done)
      }
    } catch {
      await flow.close(.cancelled)
      throw error
    }
    return await Self.end(of: flow)
  }

  private static func end(of flow: OutgoingFlow) async -> FlowEnd {
    if Task.isCancelled { await flow.close(.cancelled) }
    return await flow.ended()
  }

  /// Receives a resource into a folder. The octets go to a hidden file named after the hash, `.HASH.part`; a file left
  /// by an earlier attempt is continued. Once the hash is verified, the file gets an unused name derived from the
  /// offered one: nothing is ever replaced.
  /// - Parameter progress: called with the number of received octets.
  /// - Returns: the outcome, and the file's path if it is finished; cancelling the task ends it.
  /// - Throws: `BledError.invalidParameter` with the system's reason if it cannot be written; `.alreadyInProgress` if
  ///   another transfer of the same octets into the folder is in progress.
  public static func receive(
    _ offer: ResourceOffer, from flow: IncomingFlow, into folder: String,
    progress: @Sendable (UInt64) -> Void = { _ in }
  ) async throws(BluetoothError) -> (end: FlowEnd, path: String?) {
    let partial = "\(folder)/.\(Hex.encode(offer.hash)).part"
    do throws(BluetoothError) {
      let file = try OpenFile(partial, O_RDWR | O_CREAT | O_NOFOLLOW)
      try file.lock()
      var hash = SHA256Stream()
      var done = try file.hash(atMost: offer.size, into: &hash)
      guard file.freeSpace >= offer.size - done else { return await endWithoutRoom(partial, flow) }
      await flow.accept(from: done)
      while done < offer.size, let octets = await flow.read() {
        // More than offered: the other side errs, and would wait for an answer.
        guard UInt64(octets.count) <= offer.size - done else { return await endDamaged(partial, flow) }
        guard try file.write(octets) else { return await endWithoutRoom(partial, flow) }
        hash.update(octets)
        done += UInt64(octets.count)
        progress(done)
      }
      guard done == offer.size else {
        if Task.isCancelled { await flow.close(.cancelled) }
        return (await flow.ended(), nil)
      }
      guard hash.hash() == offer.hash else { return await endDamaged(partial, flow) }
      try file.sync()
      let path = try named(partial, folder, PeerName.file(offer.name))
      await flow.close(.finished)
      return (.finished, path)
    } catch {
      await flow.close(.cancelled)
      throw error
    }
  }

  /// The octets differ from the offer: none is kept.
  private static func endDamaged(_ partial: String, _ flow: IncomingFlow) async -> (end: FlowEnd, path: String?) {
    unlink(partial)
    await flow.close(.damaged)
    return (.damaged, nil)
  }

  /// There is no room for a file: nothing is kept.
  private static func endWithoutRoom(_ partial: String, _ flow: IncomingFlow) async -> (end: FlowEnd, path: String?) {
    unlink(partial)
    await flow.close(.noRoom)
    return (.noRoom, nil)
  }

  /// Gives a file the first unused name.
  /// - Parameter link: link(2), which unlike rename(2) fails if there is one.
  static func named(
    _ partial: String, _ folder: String, _ name: String, link: (String, String) -> Int32 = { Glibc.link($0, $1) }
  ) throws(BluetoothError) -> String {
    for number in 1...9999 {
      let path = "\(folder)/" + (number == 1 ? name : PeerName.file(name, number: number))
      if link(partial, path) == 0 {
        unlink(partial)
        return path
      }
      // FAT and others have no links: the name is taken by an empty file, which is replaced.
      if [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) {
        let place = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if place >= 0 {
          close(place)
          guard rename(partial, path) == 0 else {
            let error = OpenFile.error(path)
            unlink(path)
            throw error
          }
          return path
        }
      }
      guard errno == EEXIST else { throw OpenFile.error(path) }
    }
    throw BledError.limitReached.error("\(folder) has 9999 files named \(name): remove some")
  }
}

/// A file on this machine, read or written piece by piece.
private final class OpenFile {
  private let descriptor: Int32
  private let path: String

  /// - Throws: also for directories, devices and pipes.
  init(_ path: String, _ flags: Int32) throws(BluetoothError) {
    self.path = path
    descriptor = open(path, flags | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.error(path) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw BledError.invalidParameter.error("\(path) is not a regular file")
    }
  }

  deinit { close(descriptor) }

  static func error(_ path: String) -> BluetoothError {
    BledError.invalidParameter.error("\(path): \(String(cString: strerror(errno)))")
  }

  /// - Returns: the next octets; none at the end.
  func read(_ count: Int) throws(BluetoothError) -> [UInt8] {
    var got = 0
    let octets = [UInt8](unsafeUninitializedCapacity: count) { buffer, length in
      got = Glibc.read(descriptor, buffer.baseAddress, count)
      length = max(0, got)
    }
    guard got >= 0 else { throw Self.error(path) }
    return octets
  }

  /// - Returns: false if there is no room for all of it: on the disk, for this user or in one file.
  func write(_ octets: [UInt8]) throws(BluetoothError) -> Bool {
    var rest = octets[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, [ENOSPC, EDQUOT, EFBIG].contains(errno) { return false }
      guard count > 0 else { throw Self.error(path) }
      rest = rest.dropFirst(count)
    }
    return true
  }

  func seek(_ offset: UInt64) throws(BluetoothError) {
    guard let offset = Int(exactly: offset), lseek(descriptor, offset, SEEK_SET) >= 0 else { throw Self.error(path) }
  }

  /// Adds the file's octets to a hash, and leaves the position behind them; octets beyond the limit are truncated.
  /// - Returns: the number of octets.
  func hash(atMost limit: UInt64, into hash: inout SHA256Stream) throws(BluetoothError) -> UInt64 {
    var done: UInt64 = 0
    while done < limit, case let octets = try read(Int(min(UInt64(FileResource.piece), limit - done))), !octets.isEmpty
    {
      hash.update(octets)
      done += UInt64(octets.count)
    }
    guard let length = Int(exactly: done), ftruncate(descriptor, length) == 0 else { throw Self.error(path) }
    return done
  }

  func lock() throws(BluetoothError) {
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      throw BledError.alreadyInProgress.error("the same file is being received into this folder")
    }
  }

  func sync() throws(BluetoothError) { guard fsync(descriptor) == 0 else { throw Self.error(path) } }

  var freeSpace: UInt64 {
    var status = statvfs()
    guard fstatvfs(descriptor, &status) == 0 else { return .max }
    return UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue
  }
}
