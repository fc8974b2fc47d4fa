using Esb.Storage.Sql;

namespace Esb.Storage.TakeOver;

/// <summary>
/// A folder of release 0.1 and what was in it. Taken over twice it is there once: whatever interrupts it, it begins anew.
/// </summary>
/// <param name="path">The folder.</param>
/// <param name="database">Where its contents go.</param>
/// <param name="batch">How many of them go in one transaction.</param>
internal abstract class EarlierPart(string path, SqlDatabase database, int batch)
{
    protected string Path => path;

    protected SqlDatabase Database => database;

    /// <summary>Takes everything over.</summary>
    /// <param name="told">Hears how much was taken over.</param>
    /// <param name="cancellationToken">Ends it; the next start goes on.</param>
    public abstract Task TakeAsync(Action<long> told, CancellationToken cancellationToken);

    /// <summary>Keeps things, a batch in each transaction.</summary>
    protected async Task KeepAsync<T>(IEnumerable<T> things, Func<SqlSession, T, Task> keep, Action<long> told, CancellationToken cancellationToken)
    {
        var kept = 0L;
        foreach (var some in things.Chunk(batch))
        {
            cancellationToken.ThrowIfCancellationRequested();
            await database.TransactAsync(
                async session =>
                {
                    foreach (var thing in some) await keep(session, thing);
                    return true;
                },
                cancellationToken);
            told(kept += some.Length);
        }
    }
}
