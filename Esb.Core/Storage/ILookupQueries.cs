namespace Esb.Core.Storage;

/// <summary>Looks entries up in databases. Thread-safe.</summary>
public interface ILookupQueries
{
    /// <summary>Runs a query with one parameter, and returns its first row.</summary>
    /// <param name="lookup">The look-up, for the texts of failures.</param>
    /// <param name="connection">A configured connection.</param>
    /// <param name="query">The query; its only parameter is <c>@key</c>.</param>
    /// <param name="key">The value of the parameter.</param>
    /// <param name="timeout">The longest time it takes.</param>
    /// <param name="cancellationToken">Cancels the query.</param>
    /// <returns>The texts of the columns that are not null, by name; null if there is no row.</returns>
    /// <exception cref="Errors.EsbException"><c>ESB-SQL-…</c>: the database is unreachable, or refuses the query.</exception>
    Task<IReadOnlyDictionary<string, string>?> FindAsync(
        string lookup,
        string connection,
        string query,
        string key,
        TimeSpan timeout,
        CancellationToken cancellationToken
    );
}
