using System.Data;

namespace Esb.Endpoints.Sql;

/// <summary>The isolation level of a command's transaction.</summary>
public enum SqlIsolation
{
    /// <summary>Sees what was committed before each statement.</summary>
    ReadCommitted,

    /// <summary>Sees what was committed before its first statement.</summary>
    RepeatableRead,

    /// <summary>As if transactions ran one after the other; may give way, and is tried again.</summary>
    Serializable,
}

/// <summary>Levels as ADO.NET has them.</summary>
internal static class SqlIsolations
{
    public static IsolationLevel ToLevel(this SqlIsolation? isolation) =>
        isolation switch
        {
            SqlIsolation.ReadCommitted => IsolationLevel.ReadCommitted,
            SqlIsolation.RepeatableRead => IsolationLevel.RepeatableRead,
            SqlIsolation.Serializable => IsolationLevel.Serializable,
            _ => IsolationLevel.Unspecified,
        };
}
