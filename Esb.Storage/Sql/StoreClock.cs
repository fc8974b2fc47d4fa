namespace Esb.Storage.Sql;

/// <summary>The clock of the database in conditions.</summary>
internal static class StoreClock
{
    /// <summary>The time, asked once for a statement. A condition that asks for each row uses no index, because the answer differs from row
    /// to row: looking for what is due would read everything that is not.</summary>
    public const string Now = "(select clock_timestamp())";
}
