/// An image in a slot of the device.
public struct ImageState: Hashable, Sendable {
  /// The number of the image on a device with several processors; 0 for the first.
  public let image: Int
  /// The slot: 0 runs, 1 receives.
  public let slot: Int
  /// The version in words, such as "1.2.3.4".
  public let version: String
  /// The hash in the image's trailer.
  public let hash: [UInt8]?
  /// True if it can be started.
  public let isBootable: Bool
  /// True if it is started at the next reset.
  public let isPending: Bool
  /// True if it stays after the next reset.
  public let isConfirmed: Bool
  /// True if it runs.
  public let isActive: Bool
  /// True if it was chosen for good, not for a test.
  public let isPermanent: Bool

  /// Makes a state, as a device does.
  public init(
    image: Int = 0, slot: Int, version: String, hash: [UInt8]?, isBootable: Bool = true, isPending: Bool = false,
    isConfirmed: Bool = false, isActive: Bool = false, isPermanent: Bool = false
  ) {
    (self.image, self.slot, self.version, self.hash) = (image, slot, version, hash)
    (self.isBootable, self.isPending, self.isConfirmed) = (isBootable, isPending, isConfirmed)
    (self.isActive, self.isPermanent) = (isActive, isPermanent)
  }

  /// The images in a response to an image state request.
  /// - Throws: `ManagementError` if the device answered with an error; `ManagementFrameError` without a list.
  public static func list(_ frame: ManagementFrame) throws -> [ImageState] {
    if let error = ManagementError(frame) { throw error }
    guard let images = frame.payload["images"]?.elements else {
      throw ManagementFrameError(description: "the response has no images")
    }
    return images.compactMap { image in
      guard let slot = image["slot"]?.integer else { return nil }
      func flag(_ name: String) -> Bool { image[name]?.isTrue ?? false }
      return ImageState(
        image: image["image"]?.integer ?? 0, slot: slot, version: image["version"]?.string ?? "",
        hash: image["hash"]?.bytes, isBootable: flag("bootable"), isPending: flag("pending"),
        isConfirmed: flag("confirmed"), isActive: flag("active"), isPermanent: flag("permanent"))
    }
  }

  /// The response's payload.
  public static func payload(_ images: [ImageState]) -> CBORValue {
    .members([("images", .array(images.map(\.payload)))])
  }

  private var payload: CBORValue {
    .members([
      ("image", image == 0 ? nil : .integer(image)), ("slot", .integer(slot)), ("version", .text(version)),
      ("hash", hash.map { .octets($0) }), ("bootable", .bool(isBootable)), ("pending", .bool(isPending)),
      ("confirmed", .bool(isConfirmed)), ("active", .bool(isActive)), ("permanent", .bool(isPermanent)),
    ])
  }
}

/// The buffers of a device.
public struct ManagementParameters: Hashable, Sendable {
  /// Octets of a buffer: the longest frame.
  public let bufferSize: Int
  /// How many frames can wait.
  public let bufferCount: Int

  /// Makes parameters.
  public init(bufferSize: Int, bufferCount: Int) { (self.bufferSize, self.bufferCount) = (bufferSize, bufferCount) }

  /// The parameters in a response; nil if it has none.
  public init?(_ frame: ManagementFrame) {
    guard ManagementError(frame) == nil, let size = frame.payload["buf_size"]?.integer,
      let count = frame.payload["buf_count"]?.integer
    else { return nil }
    self.init(bufferSize: size, bufferCount: count)
  }

  /// The response's payload.
  public var payload: CBORValue {
    .members([("buf_size", .integer(bufferSize)), ("buf_count", .integer(bufferCount))])
  }
}
