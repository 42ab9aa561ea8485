import Adapter
import Bluetooth

@testable import BledCore

/// A channel to a device controlled by a test.
final class ScriptedChannel: Channel {
  let psm: UInt16
  let mode: ChannelMode
  let receiveMTU = 512
  let sendMTU = 100
  let pieces: ChannelPieces?
  var onEvent: ((ChannelEvent) -> Void)?
  var isReading = false
  /// The number of packets for which the device gives credits.
  var credits = Int.max {
    didSet { if credits > 0, oldValue == 0 { onEvent?(.writable) } }
  }
  var isWritable: Bool { credits > 0 }
  private(set) var sent: [[UInt8]] = []
  private(set) var isClosed = false

  init(_ psm: UInt16, _ mode: ChannelMode = .leCreditBased, pieces: ChannelPieces? = nil) {
    self.pieces = pieces
    self.psm = psm
    self.mode = mode
  }

  func send(_ packet: [UInt8]) {
    sent.append(packet)
    credits -= 1
  }
  func close() { isClosed = true }
}

/// A program's side of a channel in memory.
final class ScriptedEnd: ProgramEnd {
  var onReady: (() -> Void)?
  var isReading = false
  var awaitsRoom = false
  /// The input from the program that was not read yet.
  var inputs: [ProgramInput] = []
  /// The number of octets it accepts; nil once it does not read.
  var room: Int? = Int.max
  private(set) var taken: [[UInt8]] = []
  private(set) var isClosed = false

  func read(atMost limit: Int) -> ProgramInput { inputs.isEmpty ? .nothing : inputs.removeFirst() }
  func write(_ octets: ArraySlice<UInt8>) -> Int? {
    guard let room else { return nil }
    let count = min(room, octets.count)
    self.room = room - count
    if count > 0 { taken.append(Array(octets.prefix(count))) }
    return count
  }
  func close() { isClosed = true }

  /// The program writes, as the loop reports.
  func write(_ inputs: ProgramInput...) {
    self.inputs += inputs
    onReady?()
  }
}
