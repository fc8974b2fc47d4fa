using Esb.Core.Parties;

namespace Esb.Endpoints.Http.Access;

/// <summary>Who a caller has proved to be, or why it has not.</summary>
internal readonly record struct Verdict(Party? Party, Denial Denial)
{
    public static Verdict Refused(Denial denial) => new(null, denial);

    /// <summary>The party, or nobody that is known.</summary>
    public static Verdict Of(Party? party) => party is null ? Refused(Denial.Unknown) : new(party, Denial.None);
}
