using System.Security.Cryptography;
using System.Text;
using Esb.Core.Storage;

namespace Esb.Tests.Storage;

/// <summary>Keys of requests.</summary>
internal static class SomeKeys
{
    public static readonly IdempotencyKey Key = new("orders", null, "k-1");

    public static ReadOnlyMemory<byte> HashOf(string body) => SHA256.HashData(Encoding.UTF8.GetBytes(body));

    public static RecordedAnswer Answer(string? body = "{}", bool isDurable = true, int status = 202) =>
        new(
            status,
            "application/json",
            new Dictionary<string, string> { ["x-a"] = "ä" },
            body is null ? default(ReadOnlyMemory<byte>?) : Encoding.UTF8.GetBytes(body),
            isDurable
        );
}
