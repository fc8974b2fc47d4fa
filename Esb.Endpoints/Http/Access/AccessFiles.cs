namespace Esb.Endpoints.Http.Access;

/// <summary>Files with certificates, keys and tokens.</summary>
internal static class AccessFiles
{
    /// <summary>The interval between two checks for renewed files.</summary>
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(5);
}
