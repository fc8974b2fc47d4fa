using System.Text;
using System.Text.Json;
using Esb.Core.Audit;
using Esb.Storage.Files;
using Esb.Storage.Segments;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.IntegrationTests.EndToEnd.Hosts;

/// <summary>What was recorded of messages, unpacked: no text can be found in bodies as they are stored.</summary>
internal static class RecordedBytes
{
    /// <summary>The facts of a folder of segments, also while a host writes there; none where there is no folder.</summary>
    public static IReadOnlyList<AuditFact> ReadFacts(string folder) =>
        !Directory.Exists(folder)
            ? []
            :
            [
                .. new SegmentReader(folder, committed: null, NullLogger.Instance)
                    .ReadNew()
                    .SelectMany(record => StoredFact.Read(record.Payload)),
            ];

    /// <summary>All of a fact, with its body as text.</summary>
    public static string TextOf(AuditFact fact) =>
        JsonSerializer.Serialize(fact with { Body = null }) + (fact.Body is { } body ? Encoding.UTF8.GetString(body.Span) : "");
}
