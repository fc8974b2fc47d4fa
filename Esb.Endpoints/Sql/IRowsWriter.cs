using System.Data.Common;

namespace Esb.Endpoints.Sql;

/// <summary>Writes the rows of a query as one body. Used by one query.</summary>
internal interface IRowsWriter : IDisposable
{
    /// <summary>Bytes written so far, more or less.</summary>
    long Length { get; }

    /// <summary>Writes the row at which the reader stands.</summary>
    void Write(DbDataReader reader);

    /// <summary>Ends the body.</summary>
    ReadOnlyMemory<byte> Finish();
}
