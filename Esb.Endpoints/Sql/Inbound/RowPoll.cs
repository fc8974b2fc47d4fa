using Esb.Delivery.Polling;

namespace Esb.Endpoints.Sql.Inbound;

/// <summary>One run of the query of an endpoint, with all that follows from it, as one unit of work.</summary>
internal sealed record RowPoll() : PolledItem(Guid.CreateVersion7());
