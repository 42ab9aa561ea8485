import CNettle

/// A number from 1 to n-1 in nettle's form, with n the order of the P-256 group.
final class P256Scalar {
  fileprivate var value = ecc_scalar()

  /// - Returns: nil unless these are 32 octets, most significant first, of such a number.
  init?(_ octets: [UInt8]) {
    nettle_ecc_scalar_init(&value, nettle_get_secp_256r1())
    guard octets.count == 32 else { return nil }
    var number = Integer(octets)
    defer { number.clear() }
    guard nettle_ecc_scalar_set(&value, &number.value) == 1 else { return nil }
  }

  deinit { nettle_ecc_scalar_clear(&value) }
}

/// A point on P-256, other than the one at infinity, in nettle's form.
final class P256Point {
  private var value = ecc_point()

  private init() { nettle_ecc_point_init(&value, nettle_get_secp_256r1()) }

  /// - Returns: nil if there is no such point on the curve.
  convenience init?(_ key: P256PublicKey) {
    self.init()
    var (x, y) = (Integer(key.x), Integer(key.y))
    defer {
      x.clear()
      y.clear()
    }
    guard nettle_ecc_point_set(&value, &x.value, &y.value) == 1 else { return nil }
  }

  /// A private key's public key.
  convenience init(multiplyingBaseBy scalar: P256Scalar) {
    self.init()
    nettle_ecc_point_mul_g(&value, &scalar.value)
  }

  /// The product of both, which is not at infinity: the group's order is a prime.
  convenience init(multiplying point: P256Point, by scalar: P256Scalar) {
    self.init()
    nettle_ecc_point_mul(&value, &scalar.value, &point.value)
  }

  deinit { nettle_ecc_point_clear(&value) }

  /// Both coordinates.
  var coordinates: P256PublicKey {
    var (x, y) = (Integer([]), Integer([]))
    defer {
      x.clear()
      y.clear()
    }
    nettle_ecc_point_get(&value, &x.value, &y.value)
    return P256PublicKey(trustedX: x.octets, y: y.octets)
  }
}

/// A number of GMP, which nettle takes and returns numbers as. It owns memory until it is cleared.
private struct Integer {
  var value = __mpz_struct()

  /// Takes octets, most significant first.
  init(_ octets: [UInt8]) { nettle_mpz_init_set_str_256_u(&value, octets.count, octets) }

  /// The 32 octets, most significant first, of a number below 2^256.
  var octets: [UInt8] {
    var octets = [UInt8](repeating: 0, count: 32)
    withUnsafePointer(to: value) { nettle_mpz_get_str_256(octets.count, &octets, $0) }
    return octets
  }

  mutating func clear() { __gmpz_clear(&value) }
}
