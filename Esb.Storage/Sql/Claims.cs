namespace Esb.Storage.Sql;

/// <summary>Rows that a host works on until a time, in the column <c>claimed_until</c>; afterwards another host takes them.</summary>
/// <remarks>A claim that would last longer than any claim does was made while the clock of the database was ahead. It counts as over, so
/// that nothing is stranded when that clock is set back.</remarks>
internal static class Claims
{
    /// <summary>The condition that no host works on a row; needs <see cref="Parameter"/>.</summary>
    public const string AreOver = "(claimed_until <= clock_timestamp() or claimed_until > clock_timestamp() + @longestClaim)";

    /// <summary>The parameter of <see cref="AreOver"/>.</summary>
    public static readonly (string Name, object? Value) Parameter = ("longestClaim", TimeSpan.FromMinutes(10));
}
