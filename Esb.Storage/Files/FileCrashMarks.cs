using System.Globalization;
using System.Text;
using Esb.Core.Storage;

namespace Esb.Storage.Files;

/// <summary>Marks as small files, one for each message that is being worked on: there is one at a time, and none while nothing dies.</summary>
/// <remarks>Thread-safe, but for the same message at the same time.</remarks>
internal sealed class FileCrashMarks(string folder, TimeProvider time) : ICrashMarks
{
    private readonly MessageFiles _files = new(folder, ".mark", time);

    public async Task<int> AddAsync(string endpoint, Guid messageId, CancellationToken cancellationToken)
    {
        var marks = 1 + await CountAsync(endpoint, messageId, cancellationToken);
        await _files.WriteAsync(endpoint, messageId, Encoding.ASCII.GetBytes(marks.ToString(CultureInfo.InvariantCulture)), cancellationToken);
        return marks;
    }

    public Task RemoveAsync(string endpoint, Guid messageId, CancellationToken cancellationToken) => _files.RemoveAsync(endpoint, messageId, cancellationToken);

    private async Task<int> CountAsync(string endpoint, Guid messageId, CancellationToken cancellationToken)
    {
        try
        {
            return await _files.ReadAsync(endpoint, messageId, cancellationToken) is { } text && int.TryParse(text, CultureInfo.InvariantCulture, out var marks) ? marks : 0;
        }
        catch (Exception ex) when (StoreErrors.IsWriteFailure(ex))
        {
            throw StoreErrors.NotReached(ex);
        }
    }
}
