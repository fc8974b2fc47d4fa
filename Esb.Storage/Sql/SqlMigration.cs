using System.Globalization;

namespace Esb.Storage.Sql;

/// <summary>A numbered SQL file, which each database runs once.</summary>
/// <param name="Number">Its place among the others.</param>
/// <param name="Name">The number and what it is about.</param>
/// <param name="Resource">Where its text is.</param>
internal sealed record SqlMigration(int Number, string Name, string Resource)
{
    public string Sql
    {
        get
        {
            using var reader = new StreamReader(typeof(SqlMigration).Assembly.GetManifestResourceStream(Resource)!);
            return reader.ReadToEnd();
        }
    }

    /// <summary>The migrations of a kind of database, in order.</summary>
    public static IReadOnlyList<SqlMigration> Of(string kind) =>
        [
            .. typeof(SqlMigration)
                .Assembly.GetManifestResourceNames()
                .Where(resource => resource.StartsWith($"{kind}/", StringComparison.Ordinal))
                .Order(StringComparer.Ordinal)
                .Select(resource => (Resource: resource, Name: resource[(kind.Length + 1)..]))
                .Select(found => new SqlMigration(
                    int.Parse(found.Name.AsSpan(0, 4), CultureInfo.InvariantCulture),
                    found.Name,
                    found.Resource
                )),
        ];
}
