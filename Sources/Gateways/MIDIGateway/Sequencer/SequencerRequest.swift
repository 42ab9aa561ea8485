import BondedDevices

/// The requests that make a client of ALSA's sequencer and its port, as the kernel reads them (sound/asequencer.h).
package enum SequencerRequest {
  /// The numbers for ioctl(2).
  package static let clientID: UInt = 0x8004_5301
  package static let setClient: UInt = 0x40BC_5311
  package static let createPort: UInt = 0xC0A8_5320
  package static let setPool: UInt = 0x4058_534C

  /// The place of the new port's number in the answer to `port`.
  package static let portNumber = 1

  /// A program (USER_CLIENT).
  private static let program: UInt32 = 1
  /// Readable, writable, both at once, and to be connected by others (SNDRV_SEQ_PORT_CAP_*).
  private static let capabilities: UInt32 = 0x73
  /// MIDI, of a device, with a connector (SNDRV_SEQ_PORT_TYPE_*), as the kernel's drivers have it.
  private static let kind: UInt32 = 1 << 1 | 1 << 16 | 1 << 19
  private static let channels: UInt32 = 16
  /// The largest pool (SNDRV_SEQ_MAX_EVENTS): events wait in it while the link is slow.
  private static let pool: UInt32 = 2000

  /// `struct snd_seq_client_info`.
  package static func client(_ client: UInt32, name: String) -> [UInt8] {
    padded(number(client) + number(program) + KernelText.octets(name, 64), to: 188)
  }

  /// `struct snd_seq_port_info`.
  package static func port(_ client: UInt32, name: String) -> [UInt8] {
    padded(
      [UInt8(truncatingIfNeeded: client), 0] + KernelText.octets(name, 64) + [0, 0] + number(capabilities)
        + number(kind)
        + number(channels), to: 168)
  }

  /// `struct snd_seq_client_pool`; a zero leaves the size of the other pool.
  package static func pool(_ client: UInt32) -> [UInt8] {
    padded(number(client) + number(0) + number(pool), to: 88)
  }

  private static func number(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }

  private static func padded(_ octets: [UInt8], to size: Int) -> [UInt8] {
    octets + [UInt8](repeating: 0, count: size - octets.count)
  }
}
