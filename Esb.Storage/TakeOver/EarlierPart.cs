using Esb.Storage.Sql;

namespace Esb.Storage.TakeOver;

/// <summary>
/// A folder of release 0.1 and its contents. The take-over is idempotent: after an interruption it starts anew.
/// </summary>
/// <param name="path">The folder.</param>
/// <param name="database">The database that receives its contents.</param>
/// <param name="batch">The number of items per transaction.</param>
internal abstract class EarlierPart(string path, SqlDatabase database, int batch)
{
    protected string Path => path;

    protected SqlDatabase Database => database;

    /// <summary>Takes everything over.</summary>
    /// <param name="told">Receives the number of items taken over.</param>
    /// <param name="cancellationToken">Cancels the operation; the next start continues it.</param>
    public abstract Task TakeAsync(Action<long> told, CancellationToken cancellationToken);

    /// <summary>Keeps things, a batch in each transaction.</summary>
    protected async Task KeepAsync<T>(
        IEnumerable<T> things,
        Func<SqlSession, T, Task> keep,
        Action<long> told,
        CancellationToken cancellationToken
    )
    {
        var kept = 0L;
        foreach (var some in things.Chunk(batch))
        {
            cancellationToken.ThrowIfCancellationRequested();
            await database.TransactAsync(
                async session =>
                {
                    foreach (var thing in some)
                        await keep(session, thing);
                    return true;
                },
                cancellationToken
            );
            told(kept += some.Length);
        }
    }
}
