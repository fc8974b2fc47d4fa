using Esb.Storage.Sqlite;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Storage;

/// <summary>The database of an embedded store, in a folder.</summary>
internal static class SomeDatabase
{
    /// <summary>Open for one host; the caller ends it.</summary>
    public static SqliteDatabase In(string folder, TimeProvider? time = null)
    {
        var database = SqliteDatabase.OfHost(Directory.CreateDirectory(folder).FullName, time ?? TimeProvider.System, NullLogger.Instance);
        database.Open();
        return database;
    }
}
