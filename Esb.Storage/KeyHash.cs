using System.Security.Cryptography;
using System.Text;

namespace Esb.Storage;

/// <summary>Keys of any length as they are looked up.</summary>
internal static class KeyHash
{
    public static byte[] Of(string key) => SHA256.HashData(Encoding.UTF8.GetBytes(key));
}
