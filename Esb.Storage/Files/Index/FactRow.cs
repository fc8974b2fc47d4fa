using System.Runtime.InteropServices;
using Esb.Core.Audit;

namespace Esb.Storage.Files.Index;

/// <summary>What the index knows of a fact without reading it: 40 bytes, in memory and in index files.</summary>
/// <param name="Id">The fact.</param>
/// <param name="Ticks">When, in UTC.</param>
/// <param name="Offset">Its record in the segment.</param>
/// <param name="Part">Which of the facts of the record.</param>
/// <param name="Kind">What happened.</param>
[StructLayout(LayoutKind.Sequential, Pack = 4)]
internal readonly record struct FactRow(Guid Id, long Ticks, long Offset, int Part, AuditKind Kind);

/// <summary>Says that a row has a key. Sorted by key in index files.</summary>
[StructLayout(LayoutKind.Sequential, Pack = 4)]
internal readonly record struct FactPosting(ulong Key, int Row) : IComparable<FactPosting>
{
    public int CompareTo(FactPosting other) => Key != other.Key ? Key.CompareTo(other.Key) : Row.CompareTo(other.Row);
}
