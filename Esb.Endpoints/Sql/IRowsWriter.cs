using System.Data.Common;

namespace Esb.Endpoints.Sql;

/// <summary>Writes the rows of a query as one body. Used by one query.</summary>
internal interface IRowsWriter : IDisposable
{
    /// <summary>The approximate number of bytes written so far.</summary>
    long Length { get; }

    /// <summary>Writes the current row of the reader.</summary>
    void Write(DbDataReader reader);

    /// <summary>Ends the body and returns it.</summary>
    ReadOnlyMemory<byte> Finish();
}
