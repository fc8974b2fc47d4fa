using System.Text.RegularExpressions;

namespace Esb.Endpoints.Sql;

/// <summary>A parameter of a stored procedure.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Type">Its type in the database; null to let it infer the type.</param>
/// <param name="Direction">Its direction.</param>
internal sealed record SqlProcedureParameter(string Name, string? Type, SqlDirection Direction);

/// <summary>A stored procedure with its parameters, in the order of the configuration. Immutable.</summary>
/// <param name="Name">Its name, with its schema if given.</param>
/// <param name="Parameters">Its parameters.</param>
internal sealed partial record SqlProcedure(string Name, IReadOnlyList<SqlProcedureParameter> Parameters)
{
    /// <summary>True if a text can be the name of a procedure, with or without schema.</summary>
    public static bool IsName(string text) => NameForm().IsMatch(text);

    /// <summary>True if a text can be the name of a type; it stands in the text of a command.</summary>
    public static bool IsType(string text) => TypeForm().IsMatch(text);

    [GeneratedRegex(@"\A[A-Za-z_]\w{0,62}(\.[A-Za-z_]\w{0,62}){0,2}\z")]
    private static partial Regex NameForm();

    [GeneratedRegex(@"\A[A-Za-z_][\w.]{0,62}( [A-Za-z]{1,20}){0,3}( ?\( ?\d{1,5}( ?, ?\d{1,5})? ?\))?( [A-Za-z]{1,20}){0,3}(\[\])?\z")]
    private static partial Regex TypeForm();
}
