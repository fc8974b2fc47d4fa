namespace Esb.Endpoints.Http.Access;

/// <summary>Files with certificates, keys and tokens.</summary>
internal static class AccessFiles
{
    /// <summary>Between two looks at whether they have been renewed.</summary>
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(5);
}
