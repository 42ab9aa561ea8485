import JSONFiles

/// A package for Nordic's Secure DFU, as nrfutil makes it: a zip archive with `manifest.json`, and for each image an
/// init packet (`.dat`) and the firmware (`.bin`).
public struct DFUPackage: Hashable, Sendable {
  /// An image with its init packet.
  public struct Image: Hashable, Sendable {
    /// The firmware's name in the manifest, such as "application" or "softdevice_bootloader".
    public let name: String
    /// The octets of the init packet.
    public let packet: [UInt8]
    /// The octets of the firmware.
    public let firmware: [UInt8]
    /// The contents of the init packet; nil if they have no known form, which the boot loader may know.
    public let contents: InitPacket?

    /// Makes an image.
    public init(name: String, packet: [UInt8], firmware: [UInt8]) {
      (self.name, self.packet, self.firmware) = (name, packet, firmware)
      contents = InitPacket(packet)
    }
  }

  /// The reason why a file is no package.
  public struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The fault, and its remedy where there is one.
    public let description: String
  }

  /// The names in a manifest, in the order of an update: a boot loader keeps no application with another SoftDevice.
  private static let kinds = ["softdevice_bootloader", "softdevice", "bootloader", "application"]
  /// The maximum length of the manifest, and of an init packet.
  private static let longestDescription = 64 << 10

  /// The images, in the order of the update; at least one.
  public let images: [Image]

  /// Reads a package, and compares each firmware with its init packet.
  /// - Throws: `Fault` with the reason.
  public init(_ octets: [UInt8]) throws(Fault) {
    do {
      let archive = try ZipArchive(octets)
      let manifest = try archive.file("manifest.json", limit: Self.longestDescription)
      let outer = try JSONFile.parse(manifest, name: "manifest.json")
      guard let inner = try outer.members().first(where: { $0.name == "manifest" })?.value else {
        throw Fault(description: "manifest.json has no member \"manifest\"")
      }
      var images: [Image] = []
      let members = try inner.members()
      for kind in Self.kinds {
        guard let member = members.first(where: { $0.name == kind }) else { continue }
        images.append(try Self.image(kind, try member.value.members(), archive))
      }
      guard !images.isEmpty else {
        let names = Self.kinds.joined(separator: ", ")
        throw Fault(description: "manifest.json names no image: there is none of \(names)")
      }
      self.images = images
    } catch let fault as Fault {
      throw fault
    } catch {
      throw Fault(description: "\(error)")
    }
  }

  private static func image(_ kind: String, _ members: [FileMember], _ archive: ZipArchive) throws -> Image {
    func text(_ name: String) throws -> String? { try members.first { $0.name == name }?.value.text() }
    guard let firmware = try text("bin_file") else {
      throw Fault(description: "manifest.json names no \"bin_file\" for the \(kind)")
    }
    guard let packet = try text("dat_file") else {
      throw Fault(description: "manifest.json names no \"dat_file\" for the \(kind)")
    }
    guard !members.contains(where: { $0.name == "init_packet_data" }) else {
      throw Fault(
        description: "the package is for the legacy DFU of SDK 11 and before, which bleshell does not have")
    }
    let octets = try archive.file(packet, limit: longestDescription)
    let image = Image(name: kind, packet: octets, firmware: try archive.file(firmware))
    guard !image.packet.isEmpty, !image.firmware.isEmpty else { throw Fault(description: "the \(kind) is empty") }
    guard image.contents?.describes(image.firmware) != false else {
      throw Fault(
        description: "\(firmware) is not the firmware that \(packet) describes: its length or hash differs")
    }
    return image
  }
}
