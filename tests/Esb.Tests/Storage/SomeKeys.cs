using System.Security.Cryptography;
using System.Text;
using Esb.Core.Storage;
using Esb.Storage.Files.Keys;
using Esb.Storage.Segments;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Storage;

/// <summary>Keys of requests, in a folder.</summary>
internal static class SomeKeys
{
    public static readonly IdempotencyKey Key = new("orders", null, "k-1");

    /// <summary>A store that lives as long as the test; its folder is locked until then.</summary>
    public static FileIdempotencyKeys In(string folder) => Open(folder, SegmentOptions.Default).Keys;

    public static (FileIdempotencyKeys Keys, SegmentLog Log) Open(string folder, SegmentOptions options, TimeProvider? time = null, int maxKeys = 1000, ILogger? logger = null)
    {
        var log = new Lazy<SegmentLog>(() => SegmentLog.Open(folder, options, NullLogger.Instance));
        return (new FileIdempotencyKeys(folder, log, time ?? TimeProvider.System, logger ?? NullLogger.Instance, maxKeys), log.Value);
    }

    public static ReadOnlyMemory<byte> HashOf(string body) => SHA256.HashData(Encoding.UTF8.GetBytes(body));

    public static RecordedAnswer Answer(string? body = "{}", bool isDurable = true, int status = 202) =>
        new(status, "application/json", new Dictionary<string, string> { ["x-a"] = "ä" }, body is null ? default(ReadOnlyMemory<byte>?) : Encoding.UTF8.GetBytes(body), isDurable);
}
