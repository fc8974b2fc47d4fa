using Esb.Configuration;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Endpoints.Sql.Transactions;
using Npgsql;

namespace Esb.Endpoints.Sql.Tables;

/// <summary>The bus's own tables in an external database, in its schema <c>esb</c>: the inbox of <c>once</c>, the outbox and the marks of
/// <c>transaction</c>, the fences of <c>singleInstance</c>. Thread-safe.</summary>
/// <remarks>Rows are found by the clock of the database, so that the clocks of hosts need not agree.</remarks>
internal sealed class BusTables(Database database)
{
    private static readonly TimeSpan PreparationTime = TimeSpan.FromSeconds(30);

    private readonly Lock _gate = new();
    private Task? _preparing;

    /// <summary>The marks that transactions leave in the tables with their commit.</summary>
    public CommitMarks Marks { get; } = new();

    /// <summary>True if the tables existed when last checked.</summary>
    public bool IsReady => _preparing is { IsCompletedSuccessfully: true };

    /// <summary>Returns the reason a connection cannot have the tables; null if it can, or if it is not configured.</summary>
    public static string? ObstacleOf(
        string connection,
        IReadOnlyDictionary<string, ConnectionConfig> connections,
        DatabaseProviders providers
    ) =>
        connections.TryGetValue(connection, out var config)
        && providers.FirstOrDefault(provider => provider.Name == config.Provider) is { HasBusTables: false } provider
            ? $"the provider '{provider.Name}' of '{connection}' cannot keep the tables that it needs"
            : null;

    /// <summary>Returns once the tables exist. Creates missing ones; concurrent callers share one attempt.</summary>
    /// <exception cref="EndpointException"><c>ESB-SQL-INBOX</c>: they cannot be created, with the remedy. Otherwise the database is
    /// unusable.</exception>
    public Task EnsureReadyAsync(CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (_preparing is null or { IsFaulted: true } or { IsCanceled: true })
                _preparing = PrepareAsync();
            return _preparing.IsCompleted ? _preparing : _preparing.WaitAsync(cancellationToken);
        }
    }

    /// <summary>Checks the tables again before their next use.</summary>
    public void Forget()
    {
        lock (_gate)
            _preparing = null;
    }

    /// <summary>Creates the partitions of the coming days and drops those no longer needed.</summary>
    /// <exception cref="EndpointException">See <see cref="EnsureReadyAsync"/>.</exception>
    public async Task KeepAsync(CancellationToken cancellationToken)
    {
        await EnsureReadyAsync(cancellationToken);
        await RunAsync((schema, limited) => schema.KeepAsync(limited), cancellationToken);
    }

    /// <summary>Shows the token of a new lease; after the return, smaller tokens of the endpoint have no effect.</summary>
    /// <exception cref="EndpointException"><see cref="Core.Endpoints.IFencedEndpoint.FencingCode"/>: a larger token was shown before.
    /// Otherwise see <see cref="EnsureReadyAsync"/>.</exception>
    public async Task RaiseFenceAsync(Fence fence, CancellationToken cancellationToken)
    {
        await EnsureReadyAsync(cancellationToken);
        try
        {
            await RunAsync((schema, limited) => schema.RaiseFenceAsync(fence, limited), cancellationToken);
        }
        catch (EndpointException ex) when (ex.Code == "ESB-SQL-INBOX")
        {
            Forget();
            throw;
        }
    }

    private Task PrepareAsync() => RunAsync((schema, limited) => schema.MigrateAsync(limited), CancellationToken.None);

    private async Task RunAsync(Func<BusSchema, CancellationToken, Task> work, CancellationToken cancellationToken)
    {
        try
        {
            await database.UseAsync(
                database.Name,
                PreparationTime,
                async (connection, limited) =>
                {
                    await work(new BusSchema((NpgsqlConnection)connection), limited);
                    return true;
                },
                cancellationToken
            );
        }
        catch (Exception ex) when (database.Explain(ex, []) is { } failure)
        {
            throw failure.ToException(database.Name, ex);
        }
    }
}
