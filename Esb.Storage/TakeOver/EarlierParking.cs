using Esb.Core.Storage;
using Esb.Storage.Sql;
using Esb.Storage.Sql.Parking;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.TakeOver;

/// <summary>Parked messages.</summary>
internal sealed class EarlierParking(string path, SqlDatabase database, int batch, ILogger logger) : EarlierPart(path, database, batch)
{
    private readonly EarlierRecords _records = new(path, logger);

    public override Task TakeAsync(Action<long> told, CancellationToken cancellationToken)
    {
        var fold = new ParkingFold();
        _records.Read(record => fold.Apply(ParkingEvent.Read(record.Payload).Event, record.Position));
        var parked = fold.Lines.SelectMany(line => line.Entries.Select(entry => (line, entry)));
        return KeepAsync(parked, (session, one) => KeepAsync(session, one.line, one.entry), told, cancellationToken);
    }

    private async Task KeepAsync(SqlSession session, ParkingFold.Line line, ParkingFold.Entry entry)
    {
        if (_records.ReadAt(entry.Position) is not { } payload)
            return; // damaged, which was reported
        var (read, body) = ParkingEvent.Read(payload);
        var parked = read.ToParked(body.ToArray());
        var kept = await ParkedLine.LockAsync(session, line.Endpoint, line.Key);
        if (!kept.IsParked)
            await kept.BeginAsync(line.Since, line.DueAt);
        await kept.AddAsync(
            parked with
            {
                Message = parked.Message with { Attempt = entry.Attempt },
                Failures = entry.Failures,
            },
            Database.Cipher
        );
    }
}
