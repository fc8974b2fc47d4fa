using System.Security.Cryptography;
using System.Text;

namespace Esb.Endpoints.Soap.Security;

/// <summary>The digest of a password: SHA-1 of nonce, time and password (UsernameToken Profile 1.1, section 3.1).</summary>
internal static class PasswordDigest
{
    public static byte[] Of(ReadOnlySpan<byte> nonce, string created, string password)
    {
        // as the profile demands; what protects it is the length of the password
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA1);
        hash.AppendData(nonce);
        hash.AppendData(Encoding.UTF8.GetBytes(created));
        hash.AppendData(Encoding.UTF8.GetBytes(password));
        return hash.GetHashAndReset();
    }
}
