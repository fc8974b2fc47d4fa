using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Marks;
using Esb.Core.Storage;

namespace Esb.Storage;

/// <summary>The space in use on the disk of the host's folder.</summary>
internal sealed class DiskMarks(StoreConfig store, Live<LimitsConfig> limits) : IMarkSource
{
    public TimeSpan Interval => TimeSpan.FromSeconds(10);

    public ValueTask<IReadOnlyList<MarkMeasure>> MeasureAsync(CancellationToken cancellationToken)
    {
        var disk = new DriveInfo(Path.GetFullPath(store.Folder));
        var inUse = 100.0 * (disk.TotalSize - disk.AvailableFreeSpace) / Math.Max(1, disk.TotalSize);
        return new([new MarkMeasure(MarkNames.Disk, null, inUse, limits.Current.DiskHigh, limits.Current.DiskLow, "%")]);
    }
}
