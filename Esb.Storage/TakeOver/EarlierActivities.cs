using System.Text.Json;
using Esb.Storage.Files;
using Esb.Storage.Sql;
using Esb.Storage.Sql.Activities;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.TakeOver;

/// <summary>What facts said of activities. Merged twice it says the same.</summary>
internal sealed class EarlierActivities(string path, SqlDatabase database, int batch, ILogger logger) : EarlierPart(path, database, batch)
{
    public override Task TakeAsync(Action<long> told, CancellationToken cancellationToken)
    {
        var records = new EarlierRecords(Path, logger).Read(payload =>
            StoredItems
                .Read(payload)
                .SelectMany(item => JsonSerializer.Deserialize(item.Json.Span, StorageJson.Default.EarlierProgress)!.Items)
                .ToList()
        );
        return KeepAsync(records, (session, progress) => new ActivityMerge(session).RunAsync(progress), told, cancellationToken);
    }
}
