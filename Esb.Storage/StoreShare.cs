using System.Security.Cryptography;
using System.Text;

namespace Esb.Storage;

/// <summary>Names of what configurations have of their own in a store that they share.</summary>
internal static class StoreShare
{
    private const int MaxSchemaLength = 63;

    /// <summary>The schema of a configuration that does not own the store's.</summary>
    public static string SchemaOf(string schema, string configuration)
    {
        var own = $"{schema}_{configuration.Replace('-', '_')}";
        if (own.Length <= MaxSchemaLength)
            return own;
        var hash = Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(own)))[..16];
        return $"{own[..(MaxSchemaLength - hash.Length - 1)]}_{hash}";
    }

    /// <summary>The database of a configuration that does not own the folder's.</summary>
    public static string FileOf(string configuration) => $"store-{configuration}.db";
}
