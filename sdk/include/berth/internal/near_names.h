// Names that authors write by mistake for a method that the host calls. The host would never call
// such a method, so a class that has one, and not the right one, does not compile.
#ifndef BERTH_INTERNAL_NEAR_NAMES_H_
#define BERTH_INTERNAL_NEAR_NAMES_H_

#include <type_traits>

#include <berth/args.h>
#include <berth/internal/detect.h>
#include <berth/internal/points.h>
#include <berth/quiesce.h>

// X(wrong, right) for each name: another case of letters, one letter left out or doubled, two
// letters exchanged, another ending. Words of their own, such as Lean, are not among them.
// clang-format off
#define BERTH_INTERNAL_NEAR_NAMES(X) \
  X(preEnqueue, PreEnqueue) X(Preenqueue, PreEnqueue) X(pre_enqueue, PreEnqueue) \
  X(PreenqueueX, PreEnqueue) X(PreEnqueues, PreEnqueue) X(PreEnqueued, PreEnqueue) \
  X(PreEnqueueX, PreEnqueue) X(PeEnqueue, PreEnqueue) X(PrEnqueue, PreEnqueue) \
  X(Prenqueue, PreEnqueue) X(PreEqueue, PreEnqueue) X(PreEnueue, PreEnqueue) \
  X(PreEnqeue, PreEnqueue) X(PreEnquue, PreEnqueue) X(PreEnquee, PreEnqueue) \
  X(PreEnqueu, PreEnqueue) X(PerEnqueue, PreEnqueue) X(PrEenqueue, PreEnqueue) \
  X(PrenEqueue, PreEnqueue) X(PreEqnueue, PreEnqueue) X(PreEnuqeue, PreEnqueue) \
  X(PreEnqeuue, PreEnqueue) X(PreEnquuee, PreEnqueue) X(PreEnqueeu, PreEnqueue) \
  X(PreQueue, PreEnqueue) X(PreEnque, PreEnqueue) \
  X(eventsToRegister, EventsToRegister) X(Eventstoregister, EventsToRegister) \
  X(events_to_register, EventsToRegister) X(EventstoRegister, EventsToRegister) \
  X(EventsToregister, EventsToRegister) X(EventstoregisterX, EventsToRegister) \
  X(EventsToRegisters, EventsToRegister) X(EventsToRegistered, EventsToRegister) \
  X(EventsToRegisterX, EventsToRegister) X(EentsToRegister, EventsToRegister) \
  X(EvntsToRegister, EventsToRegister) X(EvetsToRegister, EventsToRegister) \
  X(EvensToRegister, EventsToRegister) X(EventToRegister, EventsToRegister) \
  X(EventsoRegister, EventsToRegister) X(EventsTRegister, EventsToRegister) \
  X(EventsToegister, EventsToRegister) X(EventsToRgister, EventsToRegister) \
  X(EventsToReister, EventsToRegister) X(EventsToRegster, EventsToRegister) \
  X(EventsToRegiter, EventsToRegister) X(EventsToRegiser, EventsToRegister) \
  X(EventsToRegistr, EventsToRegister) X(EventsToRegiste, EventsToRegister) \
  X(EevntsToRegister, EventsToRegister) X(EvnetsToRegister, EventsToRegister) \
  X(EvetnsToRegister, EventsToRegister) X(EvenstToRegister, EventsToRegister) \
  X(EventTsoRegister, EventsToRegister) X(EventsoTRegister, EventsToRegister) \
  X(EventsTRoegister, EventsToRegister) X(EventsToeRgister, EventsToRegister) \
  X(EventsToRgeister, EventsToRegister) X(EventsToReigster, EventsToRegister) \
  X(EventsToRegsiter, EventsToRegister) X(EventsToRegitser, EventsToRegister) \
  X(EventsToRegisetr, EventsToRegister) X(EventsToRegistre, EventsToRegister) \
  X(Hnt, Hint) X(Hnit, Hint) X(Hitn, Hint) \
  X(Lss, Less) X(Lses, Less) \
  X(EntityX, Entity) X(Etity, Entity) X(Eniy, Entity) X(Entiy, Entity) X(Entty, Entity) \
  X(Enity, Entity) X(Netity, Entity) X(Etnity, Entity) X(Enitty, Entity) X(Enttiy, Entity) \
  X(Entiyt, Entity) X(Enntity, Entity) X(Enttity, Entity) X(Entiity, Entity) X(Entitty, Entity) \
  X(Entityy, Entity) \
  X(Lne, Lane) X(Lae, Lane) X(Lnae, Lane) X(Laen, Lane) \
  X(nextLane, NextLane) X(Nextlane, NextLane) X(next_lane, NextLane) X(NextlaneX, NextLane) \
  X(NextLanes, NextLane) X(NextLaned, NextLane) X(NextLaneX, NextLane) X(NxtLane, NextLane) \
  X(NetLane, NextLane) X(NexLane, NextLane) X(Nextane, NextLane) X(NextLne, NextLane) \
  X(NextLae, NextLane) X(NextLan, NextLane) X(NxetLane, NextLane) X(NetxLane, NextLane) \
  X(NexLtane, NextLane) X(NextaLne, NextLane) X(NextLnae, NextLane) X(NextLaen, NextLane) \
  X(preFilter, PreFilter) X(Prefilter, PreFilter) X(pre_filter, PreFilter) \
  X(PrefilterX, PreFilter) X(PreFilters, PreFilter) X(PreFiltered, PreFilter) \
  X(PreFilterX, PreFilter) X(PeFilter, PreFilter) X(PrFilter, PreFilter) X(Preilter, PreFilter) \
  X(PreFlter, PreFilter) X(PreFiter, PreFilter) X(PreFiler, PreFilter) X(PreFiltr, PreFilter) \
  X(PreFilte, PreFilter) X(PerFilter, PreFilter) X(PrFeilter, PreFilter) X(PreiFlter, PreFilter) \
  X(PreFliter, PreFilter) X(PreFitler, PreFilter) X(PreFiletr, PreFilter) X(PreFiltre, PreFilter) \
  X(Addpod, AddPod) X(AddpodX, AddPod) X(AddPodX, AddPod) X(AdPod, AddPod) X(Addod, AddPod) \
  X(AddPd, AddPod) X(AddPo, AddPod) X(AdPdod, AddPod) X(AddoPd, AddPod) X(AddPdo, AddPod) \
  X(Removepod, RemovePod) X(RemovepodX, RemovePod) X(RemovePodX, RemovePod) \
  X(RmovePod, RemovePod) X(ReovePod, RemovePod) X(RemvePod, RemovePod) X(RemoePod, RemovePod) \
  X(RemovPod, RemovePod) X(Removeod, RemovePod) X(RemovePd, RemovePod) X(RemovePo, RemovePod) \
  X(RmeovePod, RemovePod) X(ReomvePod, RemovePod) X(RemvoePod, RemovePod) X(RemoevPod, RemovePod) \
  X(RemovPeod, RemovePod) X(RemoveoPd, RemovePod) X(RemovePdo, RemovePod) \
  X(FilterX, Filter) X(Flter, Filter) X(Fiter, Filter) X(Filtr, Filter) X(Filte, Filter) \
  X(Fliter, Filter) X(Fitler, Filter) X(Filetr, Filter) X(Filtre, Filter) X(Fiilter, Filter) \
  X(Fillter, Filter) X(Filtter, Filter) X(Filteer, Filter) X(Filterr, Filter) \
  X(postFilter, PostFilter) X(Postfilter, PostFilter) X(post_filter, PostFilter) \
  X(PostfilterX, PostFilter) X(PostFilters, PostFilter) X(PostFiltered, PostFilter) \
  X(PostFilterX, PostFilter) X(PstFilter, PostFilter) X(PotFilter, PostFilter) \
  X(PosFilter, PostFilter) X(Postilter, PostFilter) X(PostFlter, PostFilter) \
  X(PostFiter, PostFilter) X(PostFiler, PostFilter) X(PostFiltr, PostFilter) \
  X(PostFilte, PostFilter) X(PsotFilter, PostFilter) X(PotsFilter, PostFilter) \
  X(PosFtilter, PostFilter) X(PostiFlter, PostFilter) X(PostFliter, PostFilter) \
  X(PostFitler, PostFilter) X(PostFiletr, PostFilter) X(PostFiltre, PostFilter) \
  X(preScore, PreScore) X(Prescore, PreScore) X(pre_score, PreScore) X(PrescoreX, PreScore) \
  X(PreScores, PreScore) X(PreScored, PreScore) X(PreScoreX, PreScore) X(PeScore, PreScore) \
  X(PrScore, PreScore) X(Precore, PreScore) X(PreSore, PreScore) X(PreScre, PreScore) \
  X(PreScoe, PreScore) X(PreScor, PreScore) X(PerScore, PreScore) X(PrSecore, PreScore) \
  X(PrecSore, PreScore) X(PreSocre, PreScore) X(PreScroe, PreScore) X(PreScoer, PreScore) \
  X(ScoreX, Score) X(Scre, Score) X(Scoe, Score) X(Scor, Score) X(Socre, Score) X(Scroe, Score) \
  X(Scoer, Score) X(Sccore, Score) X(Scoore, Score) X(Scorre, Score) X(Scoree, Score) \
  X(normalizeScore, NormalizeScore) X(Normalizescore, NormalizeScore) \
  X(normalize_score, NormalizeScore) X(NormalizescoreX, NormalizeScore) \
  X(NormalizeScores, NormalizeScore) X(NormalizeScored, NormalizeScore) \
  X(NormalizeScoreX, NormalizeScore) X(NrmalizeScore, NormalizeScore) \
  X(NomalizeScore, NormalizeScore) X(NoralizeScore, NormalizeScore) \
  X(NormlizeScore, NormalizeScore) X(NormaizeScore, NormalizeScore) \
  X(NormalzeScore, NormalizeScore) X(NormalieScore, NormalizeScore) \
  X(NormalizScore, NormalizeScore) X(Normalizecore, NormalizeScore) \
  X(NormalizeSore, NormalizeScore) X(NormalizeScre, NormalizeScore) \
  X(NormalizeScoe, NormalizeScore) X(NormalizeScor, NormalizeScore) \
  X(NromalizeScore, NormalizeScore) X(NomralizeScore, NormalizeScore) \
  X(NoramlizeScore, NormalizeScore) X(NormlaizeScore, NormalizeScore) \
  X(NormailzeScore, NormalizeScore) X(NormalzieScore, NormalizeScore) \
  X(NormaliezScore, NormalizeScore) X(NormalizSecore, NormalizeScore) \
  X(NormalizecSore, NormalizeScore) X(NormalizeSocre, NormalizeScore) \
  X(NormalizeScroe, NormalizeScore) X(NormalizeScoer, NormalizeScore) \
  X(NormaliseScore, NormalizeScore) \
  X(ReserveX, Reserve) X(Rserve, Reserve) X(Reerve, Reserve) X(Resrve, Reserve) \
  X(Reseve, Reserve) X(Resere, Reserve) X(Reserv, Reserve) X(Rseerve, Reserve) \
  X(Reesrve, Reserve) X(Resreve, Reserve) X(Resevre, Reserve) X(Reserev, Reserve) \
  X(Reeserve, Reserve) X(Resserve, Reserve) X(Reseerve, Reserve) X(Reserrve, Reserve) \
  X(Reservve, Reserve) X(Reservee, Reserve) \
  X(UnReserve, Unreserve) X(unReserve, Unreserve) X(UnreserveX, Unreserve) X(Ureserve, Unreserve) \
  X(Uneserve, Unreserve) X(Unrserve, Unreserve) X(Unreerve, Unreserve) X(Unresrve, Unreserve) \
  X(Unreseve, Unreserve) X(Unresere, Unreserve) X(Unreserv, Unreserve) X(Urneserve, Unreserve) \
  X(Unerserve, Unreserve) X(Unrseerve, Unreserve) X(Unreesrve, Unreserve) X(Unresreve, Unreserve) \
  X(Unresevre, Unreserve) X(Unreserev, Unreserve) X(Unnreserve, Unreserve) \
  X(Unrreserve, Unreserve) X(Unreeserve, Unreserve) X(Unresserve, Unreserve) \
  X(Unreseerve, Unreserve) X(Unreserrve, Unreserve) X(Unreservve, Unreserve) \
  X(Unreservee, Unreserve) \
  X(PermitX, Permit) X(Prmit, Permit) X(Pemit, Permit) X(Perit, Permit) X(Permt, Permit) \
  X(Permi, Permit) X(Premit, Permit) X(Pemrit, Permit) X(Perimt, Permit) X(Permti, Permit) \
  X(Peermit, Permit) X(Perrmit, Permit) X(Permmit, Permit) X(Permiit, Permit) X(Permitt, Permit) \
  X(preBindPreFlight, PreBindPreFlight) X(Prebindpreflight, PreBindPreFlight) \
  X(pre_bind_pre_flight, PreBindPreFlight) X(PrebindPreFlight, PreBindPreFlight) \
  X(PreBindpreFlight, PreBindPreFlight) X(PreBindPreflight, PreBindPreFlight) \
  X(PrebindpreflightX, PreBindPreFlight) X(PreBindPreFlights, PreBindPreFlight) \
  X(PreBindPreFlighted, PreBindPreFlight) X(PreBindPreFlightX, PreBindPreFlight) \
  X(PeBindPreFlight, PreBindPreFlight) X(PrBindPreFlight, PreBindPreFlight) \
  X(PreindPreFlight, PreBindPreFlight) X(PreBndPreFlight, PreBindPreFlight) \
  X(PreBidPreFlight, PreBindPreFlight) X(PreBinPreFlight, PreBindPreFlight) \
  X(PreBindreFlight, PreBindPreFlight) X(PreBindPeFlight, PreBindPreFlight) \
  X(PreBindPrFlight, PreBindPreFlight) X(PreBindPrelight, PreBindPreFlight) \
  X(PreBindPreFight, PreBindPreFlight) X(PreBindPreFlght, PreBindPreFlight) \
  X(PreBindPreFliht, PreBindPreFlight) X(PreBindPreFligt, PreBindPreFlight) \
  X(PreBindPreFligh, PreBindPreFlight) X(PerBindPreFlight, PreBindPreFlight) \
  X(PrBeindPreFlight, PreBindPreFlight) X(PreiBndPreFlight, PreBindPreFlight) \
  X(PreBnidPreFlight, PreBindPreFlight) X(PreBidnPreFlight, PreBindPreFlight) \
  X(PreBinPdreFlight, PreBindPreFlight) X(PreBindrPeFlight, PreBindPreFlight) \
  X(PreBindPerFlight, PreBindPreFlight) X(PreBindPrFelight, PreBindPreFlight) \
  X(PreBindPrelFight, PreBindPreFlight) X(PreBindPreFilght, PreBindPreFlight) \
  X(PreBindPreFlgiht, PreBindPreFlight) X(PreBindPreFlihgt, PreBindPreFlight) \
  X(PreBindPreFligth, PreBindPreFlight) \
  X(preBind, PreBind) X(Prebind, PreBind) X(pre_bind, PreBind) X(PrebindX, PreBind) \
  X(PreBinds, PreBind) X(PreBinded, PreBind) X(PreBindX, PreBind) X(PeBind, PreBind) \
  X(PrBind, PreBind) X(Preind, PreBind) X(PreBnd, PreBind) X(PreBid, PreBind) X(PreBin, PreBind) \
  X(PerBind, PreBind) X(PrBeind, PreBind) X(PreiBnd, PreBind) X(PreBnid, PreBind) \
  X(PreBidn, PreBind) \
  X(Bnd, Bind) X(Bnid, Bind) X(Bidn, Bind) \
  X(postBind, PostBind) X(Postbind, PostBind) X(post_bind, PostBind) X(PostbindX, PostBind) \
  X(PostBinds, PostBind) X(PostBinded, PostBind) X(PostBindX, PostBind) X(PstBind, PostBind) \
  X(PotBind, PostBind) X(PosBind, PostBind) X(Postind, PostBind) X(PostBnd, PostBind) \
  X(PostBid, PostBind) X(PostBin, PostBind) X(PsotBind, PostBind) X(PotsBind, PostBind) \
  X(PosBtind, PostBind) X(PostiBnd, PostBind) X(PostBnid, PostBind) X(PostBidn, PostBind) \
  X(onChange, OnChange) X(Onchange, OnChange) X(on_change, OnChange) X(OnchangeX, OnChange) \
  X(OnChanges, OnChange) X(OnChanged, OnChange) X(OnChangeX, OnChange) X(OChange, OnChange) \
  X(Onhange, OnChange) X(OnCange, OnChange) X(OnChnge, OnChange) X(OnChage, OnChange) \
  X(OnChane, OnChange) X(OnChang, OnChange) X(OCnhange, OnChange) X(OnhCange, OnChange) \
  X(OnCahnge, OnChange) X(OnChnage, OnChange) X(OnChagne, OnChange) X(OnChaneg, OnChange) \
  X(Sve, Save) X(Sae, Save) X(Svae, Save) X(Saev, Save) \
  X(RestoreX, Restore) X(Rstore, Restore) X(Retore, Restore) X(Resore, Restore) \
  X(Restre, Restore) X(Restoe, Restore) X(Restor, Restore) X(Rsetore, Restore) \
  X(Retsore, Restore) X(Resotre, Restore) X(Restroe, Restore) X(Restoer, Restore) \
  X(Reestore, Restore) X(Resstore, Restore) X(Resttore, Restore) X(Restoore, Restore) \
  X(Restorre, Restore) X(Restoree, Restore) \
  X(filterDependence, FilterDependence) X(Filterdependence, FilterDependence) \
  X(filter_dependence, FilterDependence) X(FilterdependenceX, FilterDependence) \
  X(FilterDependences, FilterDependence) X(FilterDependenced, FilterDependence) \
  X(FilterDependenceX, FilterDependence) X(FlterDependence, FilterDependence) \
  X(FiterDependence, FilterDependence) X(FilerDependence, FilterDependence) \
  X(FiltrDependence, FilterDependence) X(FilteDependence, FilterDependence) \
  X(Filterependence, FilterDependence) X(FilterDpendence, FilterDependence) \
  X(FilterDeendence, FilterDependence) X(FilterDepndence, FilterDependence) \
  X(FilterDepedence, FilterDependence) X(FilterDepenence, FilterDependence) \
  X(FilterDependnce, FilterDependence) X(FilterDependece, FilterDependence) \
  X(FilterDependene, FilterDependence) X(FilterDependenc, FilterDependence) \
  X(FliterDependence, FilterDependence) X(FitlerDependence, FilterDependence) \
  X(FiletrDependence, FilterDependence) X(FiltreDependence, FilterDependence) \
  X(FilteDrependence, FilterDependence) X(FiltereDpendence, FilterDependence) \
  X(FilterDpeendence, FilterDependence) X(FilterDeepndence, FilterDependence) \
  X(FilterDepnedence, FilterDependence) X(FilterDepednence, FilterDependence) \
  X(FilterDepenednce, FilterDependence) X(FilterDependnece, FilterDependence) \
  X(FilterDependecne, FilterDependence) X(FilterDependenec, FilterDependence) \
  X(FilterDependance, FilterDependence) \
  X(scoreDependence, ScoreDependence) X(Scoredependence, ScoreDependence) \
  X(score_dependence, ScoreDependence) X(ScoredependenceX, ScoreDependence) \
  X(ScoreDependences, ScoreDependence) X(ScoreDependenced, ScoreDependence) \
  X(ScoreDependenceX, ScoreDependence) X(SoreDependence, ScoreDependence) \
  X(ScreDependence, ScoreDependence) X(ScoeDependence, ScoreDependence) \
  X(ScorDependence, ScoreDependence) X(Scoreependence, ScoreDependence) \
  X(ScoreDpendence, ScoreDependence) X(ScoreDeendence, ScoreDependence) \
  X(ScoreDepndence, ScoreDependence) X(ScoreDepedence, ScoreDependence) \
  X(ScoreDepenence, ScoreDependence) X(ScoreDependnce, ScoreDependence) \
  X(ScoreDependece, ScoreDependence) X(ScoreDependene, ScoreDependence) \
  X(ScoreDependenc, ScoreDependence) X(SocreDependence, ScoreDependence) \
  X(ScroeDependence, ScoreDependence) X(ScoerDependence, ScoreDependence) \
  X(ScorDeependence, ScoreDependence) X(ScoreeDpendence, ScoreDependence) \
  X(ScoreDpeendence, ScoreDependence) X(ScoreDeepndence, ScoreDependence) \
  X(ScoreDepnedence, ScoreDependence) X(ScoreDepednence, ScoreDependence) \
  X(ScoreDepenednce, ScoreDependence) X(ScoreDependnece, ScoreDependence) \
  X(ScoreDependecne, ScoreDependence) X(ScoreDependenec, ScoreDependence) \
  X(ScoreDependance, ScoreDependence) \
  X(signFilter, SignFilter) X(Signfilter, SignFilter) X(sign_filter, SignFilter) \
  X(SignfilterX, SignFilter) X(SignFilters, SignFilter) X(SignFiltered, SignFilter) \
  X(SignFilterX, SignFilter) X(SgnFilter, SignFilter) X(SinFilter, SignFilter) \
  X(SigFilter, SignFilter) X(Signilter, SignFilter) X(SignFlter, SignFilter) \
  X(SignFiter, SignFilter) X(SignFiler, SignFilter) X(SignFiltr, SignFilter) \
  X(SignFilte, SignFilter) X(SginFilter, SignFilter) X(SingFilter, SignFilter) \
  X(SigFnilter, SignFilter) X(SigniFlter, SignFilter) X(SignFliter, SignFilter) \
  X(SignFitler, SignFilter) X(SignFiletr, SignFilter) X(SignFiltre, SignFilter) \
  X(signScore, SignScore) X(Signscore, SignScore) X(sign_score, SignScore) \
  X(SignscoreX, SignScore) X(SignScores, SignScore) X(SignScored, SignScore) \
  X(SignScoreX, SignScore) X(SgnScore, SignScore) X(SinScore, SignScore) X(SigScore, SignScore) \
  X(Signcore, SignScore) X(SignSore, SignScore) X(SignScre, SignScore) X(SignScoe, SignScore) \
  X(SignScor, SignScore) X(SginScore, SignScore) X(SingScore, SignScore) X(SigSncore, SignScore) \
  X(SigncSore, SignScore) X(SignSocre, SignScore) X(SignScroe, SignScore) X(SignScoer, SignScore) \
  X(filterChanged, FilterChanged) X(Filterchanged, FilterChanged) \
  X(filter_changed, FilterChanged) X(FilterchangedX, FilterChanged) \
  X(FilterChangeds, FilterChanged) X(FilterChangeded, FilterChanged) \
  X(FilterChangedX, FilterChanged) X(FlterChanged, FilterChanged) X(FiterChanged, FilterChanged) \
  X(FilerChanged, FilterChanged) X(FiltrChanged, FilterChanged) X(FilteChanged, FilterChanged) \
  X(Filterhanged, FilterChanged) X(FilterCanged, FilterChanged) X(FilterChnged, FilterChanged) \
  X(FilterChaged, FilterChanged) X(FilterChaned, FilterChanged) X(FilterChangd, FilterChanged) \
  X(FilterChange, FilterChanged) X(FliterChanged, FilterChanged) X(FitlerChanged, FilterChanged) \
  X(FiletrChanged, FilterChanged) X(FiltreChanged, FilterChanged) X(FilteCrhanged, FilterChanged) \
  X(FilterhCanged, FilterChanged) X(FilterCahnged, FilterChanged) X(FilterChnaged, FilterChanged) \
  X(FilterChagned, FilterChanged) X(FilterChanegd, FilterChanged) X(FilterChangde, FilterChanged) \
  X(scoreChanged, ScoreChanged) X(Scorechanged, ScoreChanged) X(score_changed, ScoreChanged) \
  X(ScorechangedX, ScoreChanged) X(ScoreChangeds, ScoreChanged) X(ScoreChangeded, ScoreChanged) \
  X(ScoreChangedX, ScoreChanged) X(SoreChanged, ScoreChanged) X(ScreChanged, ScoreChanged) \
  X(ScoeChanged, ScoreChanged) X(ScorChanged, ScoreChanged) X(Scorehanged, ScoreChanged) \
  X(ScoreCanged, ScoreChanged) X(ScoreChnged, ScoreChanged) X(ScoreChaged, ScoreChanged) \
  X(ScoreChaned, ScoreChanged) X(ScoreChangd, ScoreChanged) X(ScoreChange, ScoreChanged) \
  X(SocreChanged, ScoreChanged) X(ScroeChanged, ScoreChanged) X(ScoerChanged, ScoreChanged) \
  X(ScorCehanged, ScoreChanged) X(ScorehCanged, ScoreChanged) X(ScoreCahnged, ScoreChanged) \
  X(ScoreChnaged, ScoreChanged) X(ScoreChagned, ScoreChanged) X(ScoreChanegd, ScoreChanged) \
  X(ScoreChangde, ScoreChanged) \
  X(ValidateX, Validate) X(Vlidate, Validate) X(Vaidate, Validate) X(Valdate, Validate) \
  X(Valiate, Validate) X(Validte, Validate) X(Validae, Validate) X(Validat, Validate) \
  X(Vlaidate, Validate) X(Vaildate, Validate) X(Valdiate, Validate) X(Valiadte, Validate) \
  X(Validtae, Validate) X(Validaet, Validate) X(Vaalidate, Validate) X(Vallidate, Validate) \
  X(Valiidate, Validate) X(Validdate, Validate) X(Validaate, Validate) X(Validatte, Validate) \
  X(Validatee, Validate) \
  X(attemptFailed, AttemptFailed) X(Attemptfailed, AttemptFailed) \
  X(attempt_failed, AttemptFailed) X(AttemptFail, AttemptFailed) X(AttemptFails, AttemptFailed) \
  X(AttemptFailure, AttemptFailed) X(AtemptFailed, AttemptFailed) X(AttemtFailed, AttemptFailed) \
  X(AttmptFailed, AttemptFailed) X(AttempFailed, AttemptFailed) X(AttemptFaild, AttemptFailed) \
  X(AttemptFailde, AttemptFailed) X(AttemptFalied, AttemptFailed) \
  X(AttemptFialed, AttemptFailed) X(AttepmtFailed, AttemptFailed) \
  X(OnAttemptFailed, AttemptFailed) X(AttemptsFailed, AttemptFailed) \
  X(QuiesceX, Quiesce) X(Qiesce, Quiesce) X(Quesce, Quiesce) X(Quisce, Quiesce) \
  X(Quiece, Quiesce) X(Quiese, Quiesce) X(Quiesc, Quiesce) X(Qiuesce, Quiesce) \
  X(Queisce, Quiesce) X(Quisece, Quiesce) X(Quiecse, Quiesce) X(Quiesec, Quiesce) \
  X(Quuiesce, Quiesce) X(Quiiesce, Quiesce) X(Quieesce, Quiesce) X(Quiessce, Quiesce) \
  X(Quiescce, Quiesce) X(Quiescee, Quiesce)

// Names that are also those of data or types: they count only as public methods.
#define BERTH_INTERNAL_NEAR_METHODS(X) \
  X(filter, Filter) X(Filters, Filter) X(OnFilter, Filter) \
  X(score, Score) X(Scores, Score) X(OnScore, Score) \
  X(reserve, Reserve) X(Reserves, Reserve) \
  X(unreserve, Unreserve) X(Unreserves, Unreserve) \
  X(entity, Entity) X(OnEntity, Entity) \
  X(permit, Permit) X(Permits, Permit) \
  X(bind, Bind) X(SortKey, Key) \
  X(save, Save) X(Saves, Save) X(OnSave, Save) \
  X(restore, Restore) X(Restores, Restore) X(OnRestore, Restore) \
  X(validate, Validate)
// clang-format on

namespace berth::internal {

#define BERTH_INTERNAL_DECOY(wrong, right) int wrong;
struct NearDecoys {
  BERTH_INTERNAL_NEAR_NAMES(BERTH_INTERNAL_DECOY)
};
#undef BERTH_INTERNAL_DECOY

// See BERTH_INTERNAL_DETECT: a name that P has, too, is ambiguous here.
template <class P>
struct NearProbe : P, NearDecoys {};

// Fails to compile with a message for every misspelled method.
template <class P>
constexpr void CheckNearNames() {
#define BERTH_INTERNAL_CHECK_NAME(wrong, right)             \
  static_assert(                                            \
      kHas##right<P> || requires { &NearProbe<P>::wrong; }, \
      #wrong " is no method that the host calls; did you mean " #right "?");
  BERTH_INTERNAL_NEAR_NAMES(BERTH_INTERNAL_CHECK_NAME)
#undef BERTH_INTERNAL_CHECK_NAME
#define BERTH_INTERNAL_CHECK_METHOD_NAME(wrong, right)                                    \
  static_assert(                                                                          \
      kHas##right<P> ||                                                                   \
          !requires { requires std::is_member_function_pointer_v<decltype(&P::wrong)>; }, \
      #wrong " is no method that the host calls; did you mean " #right "?");
  BERTH_INTERNAL_NEAR_METHODS(BERTH_INTERNAL_CHECK_METHOD_NAME)
#undef BERTH_INTERNAL_CHECK_METHOD_NAME
}

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_NEAR_NAMES_H_
