using System.Data.Common;

namespace Esb.Storage.Sql;

/// <summary>
/// Everything in which the SQL of PostgreSQL and of SQLite differs. Statements of the stores are written once and take the differences
/// from here.
/// </summary>
/// <remarks>
/// Functions that only one of the two has are made for the other one (<c>now()</c>, <c>clock_timestamp()</c>, <c>least</c>, <c>greatest</c>
/// and <c>strpos</c> in SQLite).
/// Times can be compared, and durations added to them, in both.
/// </remarks>
internal abstract class SqlDialect
{
    /// <summary>Locks the selected rows until the end of the transaction.</summary>
    public abstract string ForUpdate { get; }

    /// <summary>Locks the selected rows, and skips rows that other sessions have locked.</summary>
    public abstract string ForUpdateSkipLocked { get; }

    /// <summary>Prevents other sessions from changing the selected rows until the end of the transaction.</summary>
    public abstract string ForShare { get; }

    /// <summary>The seconds since 1970.</summary>
    public abstract string Epoch { get; }

    /// <summary>A select of one row; afterwards a session that falls silent within its transaction loses its locks after five
    /// seconds.</summary>
    public abstract string LimitSilence { get; }

    /// <summary>A select of one row that locks a name until the end of the transaction; sessions that lock the same name wait.</summary>
    /// <param name="name">An expression for the name.</param>
    public abstract string Lock(string name);

    /// <summary>An expression for the next number of a table.</summary>
    public abstract string NextNumber(string table);

    /// <summary>A test that an expression is one of the values of a parameter, which is an array of <see cref="Guid"/>.</summary>
    public abstract string IsOneOf(string expression, string parameter);

    /// <summary>A test that an expression is among the rows of a query, which is evaluated once.</summary>
    public abstract string IsAmong(string expression, string query);

    /// <summary>The first characters of a text.</summary>
    public abstract string Left(string expression, int length);

    /// <summary>JSON without one member of an object in it.</summary>
    public abstract string Without(string json, string member, string inner);

    /// <summary>Rows that come as parameters.</summary>
    public abstract string Rows(SqlRows rows);

    /// <summary>Adds a parameter.</summary>
    public abstract void Bind(DbCommand command, string name, object? value);

    /// <summary>Adds the parameters of rows.</summary>
    public abstract void Bind(DbCommand command, SqlRows rows);

    public abstract DateTimeOffset ReadTime(DbDataReader reader, int ordinal);
}
