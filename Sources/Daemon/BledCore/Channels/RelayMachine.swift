import Bluetooth

/// Passes packets between a channel and its program: at most one waits per direction, so a side that does not read
/// stops the other.
///
/// | State           | Input                    | Effect                                                            |
/// |-----------------|--------------------------|-------------------------------------------------------------------|
/// | without program | attached                 | both are read → open                                              |
/// | any             | the device's end         | nothing more is read of the program; when all is written → ended  |
/// | open            | a packet of the device   | it is to be written                                               |
/// | open            | so much was written      | the rest waits for room, and the device is not read until then    |
/// | open            | a packet was sent        | the program is read while the device has room                     |
/// | open            | the program sends no more | the device's packets are still written                            |
/// | open            | the program does not read | the device's packets are dropped; the rest of the program's are sent |
/// | open            | the program has ended    | → ended                                                           |
///
/// The actions follow from the state: `waiting` is to be written, and the other properties name the sides to read and
/// the end.
struct RelayMachine {
  private var isAttached = false
  /// The unwritten rest of the device's packet.
  private(set) var waiting: ArraySlice<UInt8> = []
  private var deviceHasRoom = true
  private var deviceEnd: BluetoothError?
  private var programSendsNoMore = false
  private var programReads = true
  private var isProgramGone = false

  /// True to read packets from the device.
  var readsDevice: Bool { isAttached && waiting.isEmpty && deviceEnd == nil && end == nil }
  /// True to read packets from the program.
  var readsProgram: Bool { isAttached && deviceHasRoom && !programSendsNoMore && deviceEnd == nil && end == nil }
  /// True if only the program's end can still be received.
  var awaitsGoing: Bool { programSendsNoMore && end == nil }
  /// True to be called when the program has room.
  var awaitsRoom: Bool { !waiting.isEmpty && end == nil }

  /// How a relay ended.
  enum End: Equatable {
    /// The program closed its side.
    case byProgram
    /// The device closed the channel, or the link has ended.
    case byDevice(BluetoothError)
  }

  /// The end, after which both sides are to be closed.
  var end: End? {
    if isProgramGone { return .byProgram }
    if let deviceEnd, waiting.isEmpty { return .byDevice(deviceEnd) }
    return programSendsNoMore && !programReads ? .byProgram : nil
  }

  mutating func attached() { isAttached = true }

  /// The device sent a packet.
  mutating func received(_ packet: [UInt8]) {
    guard programReads else { return }
    waiting = waiting.isEmpty ? packet[...] : waiting + packet
  }

  /// The program has received this number of waiting octets.
  mutating func wrote(_ count: Int) { waiting = waiting.dropFirst(count) }

  /// A packet of the program was sent, or there is room again.
  mutating func sent(hasRoom: Bool) { deviceHasRoom = hasRoom }

  mutating func deviceEnded(_ reason: BluetoothError) { deviceEnd = deviceEnd ?? reason }

  mutating func programEndedSending() { programSendsNoMore = true }

  /// The program can be given nothing more.
  mutating func programEndedReading() {
    programReads = false
    waiting = []
  }

  /// The program has closed its side, and everything it sent was read.
  mutating func programGone() { isProgramGone = true }
}
