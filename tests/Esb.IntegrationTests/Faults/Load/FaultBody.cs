using System.Security.Cryptography;
using System.Text;

namespace Esb.IntegrationTests.Faults.Load;

/// <summary>Bodies that say which message they are of, followed by noise of which no byte may change.</summary>
internal static class FaultBody
{
    public static string Make(string id, int length, Random random)
    {
        var noise = new byte[Math.Max(3, (length - id.Length - 1) * 3 / 4)];
        random.NextBytes(noise);
        return $"{id} {Convert.ToBase64String(noise)}";
    }

    public static string HashOf(string body) => Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(body)));
}
