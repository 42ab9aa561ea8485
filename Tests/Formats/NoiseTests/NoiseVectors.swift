import Bluetooth
import Noise
import Testing

/// Vectors of the library cacophony, which other libraries of Noise use, too.
struct NoiseVector: Sendable, CustomTestStringConvertible {
  let pattern: HandshakePattern
  var preSharedKey = ""
  var staticKeys: [String] = []
  let hash: String
  /// The payloads and the messages, the first of the initiator.
  let messages: [(payload: String, message: String)]

  var testDescription: String { pattern.name }

  static let prologue = "4a6f686e2047616c74"
  static let initiatorEphemeral = "893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a"
  static let responderEphemeral = "bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b"

  private static let payloads = [
    "4c756477696720766f6e204d69736573", "4d757272617920526f746862617264", "462e20412e20486179656b",
    "4361726c204d656e676572", "4a65616e2d426170746973746520536179", "457567656e2042f6686d20766f6e2042617765726b",
  ]

  static let all = [
    NoiseVector(
      pattern: .nnpsk0,
      preSharedKey: "54686973206973206d7920417573747269616e20706572737065637469766521",
      hash: "f4d03dc34495c95729ea6de9e1b59004b59733102488b3e24bc441e0be208eaf",
      messages: Array(
        zip(
          payloads,
          [
            "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c794479b962b8aff8485742ac32f905ba45369e2465fb"
              + "59e138a93d67a0d1266b6a54",
            "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f144808843d6062704d5a9c422a8e834423f8c1feada7e8d0d"
              + "910a1a2cd030fb584221e3",
            "e632c3763d7669067383433197a3baddf146e9e70ad4b4e9e59e0f",
            "64c6bee32ea91c8474bb4c21d7a700109ad45af77b29764ba5eb1e",
            "e2fa0bed0603b62d3ccac2ecabbf3fe33f3e86514909b323361626266cb2471cc8",
            "0c01dc9cec1fe4ddd692e8dd32188aa351088dc91183639a53b57aa4692b5ebdef8b8ca111",
          ]))),
    NoiseVector(
      pattern: .xx,
      staticKeys: [
        "e61ef9919cde45dd5f82166404bd08e38bceb5dfdfded0a34c8df7ed542214d1",
        "4a3acbfdb163dec651dfa3194dece676d437029c62a408b4c5ea9114246e4893",
      ],
      hash: "c8e5f64e846193be2a834104c2a009868d6c9f3bd3c186299888b488b2f1f58e",
      messages: Array(
        zip(
          payloads,
          [
            "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c79444c756477696720766f6e204d69736573",
            "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f14480884381cbad1f276e038c48378ffce2b65285e08d6b68"
              + "aaa3629a5a8639392490e5b9bd5269c2f1e4f488ed8831161f19b7815528f8982ffe09be9b5c412f8a0db50f8814c7194e83"
              + "f23dbd8d162c9326ad",
            "c7195ffacac1307ff99046f219750fc47693e23c3cb08b89c2af808b444850a80ae475b9df0f169ae80a89be0865b57f58c9fea0"
              + "d4ec82a286427402f113e4b6ae769a1d95941d49b25030",
            "96763ed773f8e47bb3712f0e29b3060ffc956ffc146cee53d5e1df",
            "3e40f15f6f3a46ae446b253bf8b1d9ffb6ed9b174d272328ff91a7e2e5c79c07f5",
            "eb3f3515110702e047a6c9da4478b6ead94873c11c0f2d710ddb3f09fce024b3a58502ae3f",
          ]))),
  ]
}
